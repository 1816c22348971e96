// The report of one point: the answer first, the evidence under it, the doubt beside it.

import { isEndToEnd } from '../state/curves.ts';
import type { Run } from '../api/generated.ts';
import { type Children, h, replace, safeHref } from '../base/dom.ts';
import {
  ABSENT,
  bytes,
  counted,
  duration,
  instant,
  number3,
  percent,
  scoreTexts,
  whole,
  words,
} from '../base/format.ts';
import type { Theme } from '../base/theme.ts';
import { outputText } from '../state/figures.ts';
import { powerOf, powerText } from '../state/power.ts';
import { safetyText } from '../state/safety.ts';
import { annotationField } from './annotation_field.ts';
import type { Context, Part } from './context.ts';
import { fileName, save } from './download.ts';
import { facts } from './facts.ts';
import { findings } from './findings.ts';
import { axesSection, datasheetLinks } from './run_axes.ts';
import { runCharts } from './run_charts.ts';
import { accuracyWord } from './systems.ts';

export function makeRunReport(close: () => void): Part {
  let shown = '';
  let open = false;
  let latest: Context | null = null;
  const body = h('div', { class: 'report-body' });
  const element = h(
    'aside',
    { class: 'report', 'aria-label': 'Run report', tabindex: -1 },
    h(
      'button',
      { type: 'button', class: 'close', 'aria-label': 'Close the report', click: close },
      '✕',
    ),
    body,
  );
  const load = async (context: Context): Promise<void> => {
    const id = context.selection.run;
    replace(body, h('p', { class: 'loading' }, 'Loading the report…'));
    const run = await context.api.run(id);
    if (`${id} ${context.theme.name}` !== shown) return;
    if (!run.ok) {
      replace(
        body,
        h('h2', {}, 'This report could not be loaded'),
        h('p', { class: 'error' }, run.message),
        h(
          'p',
          {},
          'The link may be of another store, or of a run that was measured anew since. ',
          'Close this to see what is here; ',
          h('code', {}, 'assay import PATH'),
          ' adds the run’s folder.',
        ),
      );
      return;
    }
    replace(body, ...report(run.value, context, () => latest ?? context));
    body.append(...chartSection(run.value, context.theme));
  };
  return {
    element,
    update(context) {
      latest = context;
      const key = `${context.selection.run} ${context.theme.name}`;
      if (key === shown) return;
      const opening = !open;
      shown = key;
      open = context.selection.run !== '';
      if (!open) return;
      void load(context).then(() => {
        if (opening) element.focus({ preventScroll: true });
      });
    },
  };
}

function chartSection(run: Run, theme: Theme): HTMLElement[] {
  const box = h('div', { class: 'run-charts' });
  // The cards measure themselves when they are in the page.
  queueMicrotask(() => box.append(...runCharts(run, theme)));
  return [h('section', {}, h('h3', {}, 'Distributions and the run over time'), box)];
}

const jsonText = (value: object | null | undefined): string =>
  value == null ? '' : JSON.stringify(value, null, 1);

const folded = (title: string, text: string | null | undefined): HTMLElement | null =>
  text ? h('details', {}, h('summary', {}, title), h('pre', { tabindex: 0 }, text)) : null;

function report(run: Run, context: Context, now: () => Context): Children {
  const { point, curve } = run;
  return [
    h(
      'p',
      { class: 'where' },
      [run.model, run.dataset, instant(run.started)]
        .filter((one) => one !== '' && one !== ABSENT)
        .join(' · '),
    ),
    h('h2', {}, `${run.system.name} at concurrency ${number3(point.concurrency)}`),
    h('p', { class: 'answer' }, verdictLine(run)),
    doubts(run),
    h(
      'div',
      { class: 'actions' },
      run.has_events
        ? h(
            'button',
            {
              type: 'button',
              id: 'open-events',
              click: () => context.set({ view: 'events', from_ms: 0, to_ms: 0 }),
            },
            'Event view',
          )
        : null,
      h(
        'button',
        {
          type: 'button',
          click: () =>
            save(
              fileName('assay-run', run.id) + '.json',
              'application/json',
              JSON.stringify(run, null, 1),
            ),
        },
        'Download JSON',
      ),
    ),
    annotationField(run.id, now),
    headline(run),
    section('Distributions', distributions(run)),
    ...axesSection(run),
    accuracySection(run),
    section('Findings of the rules', run.findings == null ? UNCHECKED : findings(run.findings)),
    section('System under test', systemFacts(run)),
    section('Nodes', nodes(run)),
    section('Measurement truth', truth(run)),
    section('Run', runFacts(run, curve.path ?? '')),
    failures(run),
    files(run),
    folded('Config', run.config),
    folded('Environment', jsonText(run.environment)),
    folded('System description as it was found', jsonText(run.system.description)),
  ];
}

const section = (title: string, ...children: Children): HTMLElement =>
  h('section', {}, h('h3', {}, title), ...children);

const UNCHECKED = 'Not checked: the rules are asked of a submission (assay check).';

function verdictLine(run: Run): string {
  const { point } = run;
  const client = run.client?.client_limited;
  const open = (run.findings ?? []).filter((one) => one.severity === 'error').length;
  const none = (point.failed ?? 0) > 0 && point.failed === point.issued;
  return [
    ...(none
      ? [`none of ${whole(point.issued)} queries succeeded`]
      : point.unit === undefined
        ? [
            `${number3(point.system_tps)} tok/s at ${number3(point.tps_per_user)} tok/s per user`,
            `TTFT P90 ${duration(point.ttft_ms_p90)}`,
          ]
        : [outputText(point), `latency P90 ${duration(point.latency_ms_p90)}`]),
    client === 'no'
      ? 'client innocent'
      : client === 'yes'
        ? 'CLIENT-LIMITED'
        : client === 'suspected'
          ? 'the client may have limited it'
          : 'client not audited',
    open > 0
      ? `${counted(open, 'error')} of the rules`
      : (run.findings ?? []).length > 0
        ? `${counted((run.findings ?? []).length, 'remark')} of the rules`
        : run.findings == null
          ? 'rules not checked'
          : 'no findings',
  ].join('; ');
}

// Why the client's verdict is not "no": what decides it, where the verdict stands.
function clientDoubts({ client }: Run): readonly string[] {
  const verdict = client?.client_limited ?? 'no';
  return (client?.reasons ?? []).flatMap(({ weight, what, advice }) =>
    verdict === 'no' || weight !== verdict || what == null
      ? []
      : [[what, advice ?? ''].filter((part) => part !== '').join('; ')],
  );
}

function doubts(run: Run): HTMLElement | null {
  const list = [...run.warnings, ...clientDoubts(run)];
  if (!run.complete)
    list.unshift(`The run is ${run.state}: ${run.state_reason || 'not complete'}.`);
  if (run.system.kind === 'simulated') list.unshift('Simulated, not measured.');
  return list.length === 0
    ? null
    : h(
        'ul',
        { class: 'doubts', 'aria-label': 'Warnings' },
        list.map((one) => h('li', {}, one)),
      );
}

function headline(run: Run): HTMLElement {
  const { point } = run;
  const peak = run.curve.peak_tps;
  const tile = (name: string, value: string, more = ''): HTMLElement =>
    h(
      'div',
      { class: 'tile' },
      h('span', { class: 'tile-name' }, name),
      h('strong', {}, value),
      h('small', {}, more),
    );
  return h(
    'div',
    { class: 'tiles' },
    ...(point.unit === undefined
      ? [
          tile(
            'Throughput',
            `${number3(point.system_tps)} tok/s`,
            peak != null && point.system_tps != null
              ? `${percent(point.system_tps / peak)} of the system's peak`
              : '',
          ),
          tile(
            'Per user',
            `${number3(point.tps_per_user)} tok/s`,
            isEndToEnd(point) ? 'end to end: tokens ÷ seconds of the turns' : '1000 ÷ TPOT P90',
          ),
          tile('TTFT P90', duration(point.ttft_ms_p90)),
        ]
      : [
          tile('Throughput', outputText(point)),
          tile('Latency P90', duration(point.latency_ms_p90), 'request sent to reply complete'),
        ]),
    tile(
      'Queries',
      `${number3(point.qps ?? run.rates?.qps)}/s`,
      `${whole(point.failed ?? 0)} failed`,
    ),
  );
}

const NAMES: Readonly<Record<string, string>> = {
  ttft: 'TTFT',
  ttft_due: 'TTFT from due',
  tpot: 'TPOT',
  itl: 'ITL',
  latency: 'Latency',
  latency_due: 'Latency from due',
  isl: 'Input tokens',
  osl: 'Output tokens',
  lateness: 'Sent late by',
  read_delay: 'Read late by',
};
const COLUMNS = ['50.0', '90.0', '95.0', '99.0', '99.9'] as const;

function distributions(run: Run): HTMLElement {
  const names = [...Object.keys(NAMES), ...Object.keys(run.distributions)].filter(
    (name, i, all) => all.indexOf(name) === i && (run.distributions[name]?.count ?? 0) > 0,
  );
  if (names.length === 0) return h('p', {}, 'None recorded.');
  return scroll(
    'Distributions',
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ['', 'count', 'min', 'mean', 'P50', 'P90', 'P95', 'P99', 'P99.9', 'max'].map((name, i) =>
            h('th', { scope: 'col', class: i > 0 ? 'number' : null }, name),
          ),
        ),
      ),
      h(
        'tbody',
        {},
        names.map((name) => {
          const one = run.distributions[name];
          const text = name === 'isl' || name === 'osl' ? number3 : duration;
          const cells = [
            one?.min,
            one?.mean,
            ...COLUMNS.map((key) => one?.percentiles?.[key]),
            one?.max,
          ];
          return h(
            'tr',
            {},
            h('th', { scope: 'row' }, NAMES[name] ?? words(name)),
            h('td', { class: 'number' }, whole(one?.count)),
            cells.map((value) => h('td', { class: 'number' }, text(value))),
          );
        }),
      ),
    ),
  );
}

const scroll = (label: string, table: HTMLElement): HTMLElement =>
  h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label }, table);

const NUMBERS: readonly string[] = ['Score', 'Gate', 'Samples', 'Repeats'];

function accuracySection(run: Run): HTMLElement {
  const rows = run.accuracy ?? [];
  if (rows.length === 0) {
    return section(
      'Accuracy',
      h(
        'p',
        {},
        accuracyWord(run.point.accuracy ?? run.curve.accuracy),
        ' No accuracy run belongs to this point.',
      ),
    );
  }
  return section(
    'Accuracy',
    scroll(
      'Accuracy',
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            ['Dataset', 'Metric', 'Score', 'Gate', 'Verdict', 'Samples', 'Repeats'].map((name) =>
              h('th', { scope: 'col', class: NUMBERS.includes(name) ? 'number' : null }, name),
            ),
          ),
        ),
        h(
          'tbody',
          {},
          rows.map((row) =>
            h(
              'tr',
              {},
              h('td', {}, row.dataset ?? ABSENT),
              h('td', {}, row.metric ?? ABSENT),
              scoreTexts(row.score, row.gate).map((text) => h('td', { class: 'number' }, text)),
              h(
                'td',
                {},
                accuracyWord(
                  row.passed === true ? 'passed' : row.passed === false ? 'failed' : 'unknown',
                ),
              ),
              h('td', { class: 'number' }, whole(row.samples)),
              h('td', { class: 'number' }, whole(row.repeats)),
            ),
          ),
        ),
      ),
    ),
  );
}

function systemFacts(run: Run): HTMLElement {
  const { system } = run;
  const power = powerOf(run.curve, run.point);
  const address = system.availability_url == null ? null : safeHref(system.availability_url);
  return facts([
    ['Name', system.name],
    ['Organisation', system.organisation],
    ['Kind', system.kind],
    ['Division', system.division],
    ['Availability', system.availability],
    [
      'Where to get it',
      address === null
        ? system.availability_url
        : h('a', { href: address, rel: 'noopener noreferrer' }, system.availability_url),
    ],
    [
      'Accelerators',
      system.accelerators == null
        ? system.accelerator
        : `${system.accelerators} × ${system.accelerator ?? 'unknown'}`,
    ],
    ['Nodes', whole(system.nodes)],
    ['Software', system.software],
    ['Parallelism', system.parallel],
    ['Disaggregated', system.disaggregated == null ? null : system.disaggregated ? 'yes' : 'no'],
    ['Power', power === null ? null : powerText(power)],
    ['Model', run.model],
    ['Dataset', run.dataset],
  ]);
}

function nodes(run: Run): HTMLElement {
  const types = run.system.node_types ?? [];
  if (types.length === 0) return h('p', {}, 'Not described.');
  return h(
    'div',
    { class: 'nodes' },
    types.map((node, i) =>
      h(
        'div',
        { class: 'node' },
        h(
          'h4',
          {},
          `${whole(node.nodes ?? 1)} × ${
            node.role ? `${node.role} node` : types.length > 1 ? `node type ${i + 1}` : 'node'
          }`,
        ),
        facts([
          [
            'Accelerators',
            `${node.accelerators_per_node ?? '?'} × ${node.accelerator ?? 'unknown'}`,
          ],
          ['Accelerator memory', node.accelerator_memory],
          ['Interconnect', node.interconnect],
          ['Host', node.host],
          ['Host memory', node.host_memory],
          ['Network', node.network],
          ['Operating system', node.operating_system],
          ['Driver', node.driver],
          ['Backend', node.backend],
          ['Container', node.container],
        ]),
      ),
    ),
  );
}

function truth(run: Run): HTMLElement {
  const { client, stamps } = run;
  const late = run.distributions['lateness'];
  const rows = facts([
    [
      'Client',
      client?.client_limited === 'no' ? 'innocent' : (client?.client_limited ?? 'not audited'),
    ],
    ['Sent late, P99', late === undefined ? null : duration(late.percentiles?.['99.0'])],
    [
      'Arrivals stamped by the kernel',
      stamps?.events ? percent((stamps.kernel_stamped ?? 0) / stamps.events) : null,
    ],
    ['Tokens counted from', run.tokens?.source],
    [
      'Steady state',
      run.steady_state == null
        ? 'not judged'
        : [run.steady_state.status, run.steady_state.verdict]
            .filter((word) => word != null && word !== '')
            .map((word) => words(word))
            .join(', '),
    ],
    [
      'Window',
      run.steady_state?.from_s == null
        ? null
        : `${number3(run.steady_state.from_s)} s to ${number3(run.steady_state.to_s)} s`,
    ],
    ['', run.steady_state?.text],
  ]);
  const reasons = client?.reasons ?? [];
  return h(
    'div',
    {},
    rows,
    reasons.length === 0
      ? null
      : h(
          'ul',
          {},
          reasons.map((one) =>
            h(
              'li',
              {},
              h('strong', {}, one.weight ?? ''),
              ` ${one.what ?? ''} `,
              h('em', {}, one.advice ?? ''),
            ),
          ),
        ),
  );
}

function runFacts(run: Run, path: string): HTMLElement {
  const { point, counts, rates } = run;
  return facts([
    ['Run', run.run_id],
    ['Data', datasheetLinks(run)],
    ['Safety (own rules)', safetyText(point)],
    ['State', [run.state, run.state_reason ?? ''].filter((word) => word !== '').join(': ')],
    ['Started', instant(run.started)],
    ['Measured by', `${run.measured_by ?? 'unknown'} ${run.version ?? ''}`],
    ['Endpoint', run.endpoint],
    ['API', run.api],
    ['Concurrency', number3(point.concurrency)],
    ['Region', words(point.region)],
    ['Offline', words(point.offline)],
    ['Offered rate', point.rate == null ? null : `${number3(point.rate)}/s`],
    ['Duration', rates?.duration_s == null ? null : duration(rates.duration_s * 1000)],
    ['Issued', whole(counts?.issued)],
    ['Completed', whole(counts?.completed)],
    ['Failed', whole(counts?.failed)],
    ['Prompt tokens', whole(run.tokens?.prompt)],
    ['Output tokens', whole(run.tokens?.output)],
    ['Imported from', path],
  ]);
}

function failures(run: Run): HTMLElement | null {
  const list = run.failures ?? [];
  if (list.length === 0) return null;
  return section(
    'Failures',
    h(
      'ul',
      {},
      list.map((one) =>
        h(
          'li',
          {},
          `${whole(one.count)} × ${words(one.outcome)}`,
          h(
            'ul',
            {},
            (one.examples ?? []).map((text) => h('li', {}, h('code', {}, text))),
          ),
        ),
      ),
    ),
  );
}

function files(run: Run): HTMLElement {
  if (run.files.length === 0) return section('Files', h('p', {}, 'None.'));
  return section(
    'Files',
    scroll(
      'Files',
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            ['File', 'Size', 'SHA-256'].map((name) => h('th', { scope: 'col' }, name)),
          ),
        ),
        h(
          'tbody',
          {},
          run.files.map((file) =>
            h(
              'tr',
              {},
              h('td', {}, file.path ?? '', file.about ? h('small', {}, file.about) : null),
              h('td', { class: 'number' }, bytes(file.bytes)),
              h('td', {}, h('code', {}, file.sha256 ?? ABSENT)),
            ),
          ),
        ),
      ),
    ),
  );
}

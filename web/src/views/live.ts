// What is being measured now: a line a run, under the head of the page, with how far its curve is.

import type { LiveCurve, LiveRun } from '../api/generated.ts';
import { h, replace } from '../base/dom.ts';
import { duration, number3, whole } from '../base/format.ts';
import type { Live } from '../state/live.ts';

export interface LiveStrip {
  readonly element: HTMLElement;
  update(live: Live): void;
}

export function makeLiveStrip(): LiveStrip {
  const element = h('section', { class: 'live', 'aria-label': 'Being measured now', hidden: true });
  // What is spoken is less than what is shown: that something begins, not each second of it.
  const spoken = h('p', { class: 'visually-hidden', role: 'status' });
  const rows = h('div', { class: 'live-rows' });
  element.append(spoken, rows);
  return {
    element,
    update(live) {
      const runs = [...live.runs.values()];
      element.hidden = runs.length === 0;
      const names = runs.map(title).join('; ');
      if (spoken.textContent !== names) spoken.textContent = names;
      replace(
        rows,
        runs.map((run) => row(run, live.curves.get(run.curve ?? '') ?? null)),
      );
    },
  };
}

function title(run: LiveRun): string {
  const level = run.concurrency == null ? '' : ` at concurrency ${number3(run.concurrency)}`;
  return `Measuring ${run.model ?? run.folder ?? ''}${level}`;
}

function row(run: LiveRun, curve: LiveCurve | null): HTMLElement {
  const figures = [
    duration((run.elapsed_s ?? 0) * 1000),
    ...((run.issued ?? 0) === 0
      ? ['warming up']
      : [`${whole(run.completed)} done`, `${whole(run.in_flight)} in flight`]),
    ...((run.failed ?? 0) > 0 ? [`${whole(run.failed)} failed`] : []),
    ...(run.system_tps == null ? [] : [`${number3(run.system_tps)} tok/s`]),
    ...(run.tps_per_user == null ? [] : [`${number3(run.tps_per_user)} tok/s per user`]),
    ...(run.ttft_ms_p90 == null ? [] : [`TTFT P90 ${duration(run.ttft_ms_p90)}`]),
  ];
  return h(
    'div',
    { class: run.silent === true ? 'live-row silent' : 'live-row' },
    h('span', { class: 'pulse', 'aria-hidden': 'true' }),
    h('strong', {}, title(run)),
    curve === null ? null : progress(curve),
    h(
      'span',
      { class: 'live-figures' },
      run.silent === true
        ? 'Nothing was recorded for half a minute: the client was stopped, or the server is silent.'
        : figures.map((text) => h('span', {}, text)),
    ),
  );
}

// A box a point of the plan, in the order in which they are measured.
function progress(curve: LiveCurve): HTMLElement {
  const text = `${whole(curve.points_done)} of ${whole(curve.points)} points`;
  return h(
    'span',
    { class: 'live-plan' },
    h(
      'span',
      { class: 'steps', 'aria-hidden': 'true' },
      (curve.levels ?? []).map((level) =>
        h('i', { class: level.state, title: `concurrency ${number3(level.concurrency)}` }),
      ),
    ),
    text,
  );
}

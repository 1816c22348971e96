// A dataset's description and a run by language, in the contract's shapes. The answers follow one
// rule that a reader can check by eye: commercial use is denied, research in Germany is allowed.

import type { AxisFigures, Curve, Datasheet, Point } from '../src/api/generated.ts';

export const SHEET = 'd0';

type Use = Datasheet['use'];

const WHERE = 'the dataset > usageInfo';
const VERDICTS: Use['verdicts'] = [
  {
    verdict: 'unknown',
    decided: [
      { says: 'unknown', where: WHERE, what: 'policy p1: a permission may be about this use' },
    ],
  },
  {
    verdict: 'allow',
    decided: [{ says: 'allow', where: WHERE, what: 'policy p1: a permission is about this use' }],
  },
  {
    verdict: 'deny',
    decided: [{ says: 'deny', where: WHERE, what: 'policy p1: a prohibition is about this use' }],
  },
];

function useOf(): Use {
  const axes = {
    purposes: ['', 'research', 'benchmark', 'commercial'],
    commercial: ['', 'yes', 'no'],
    nonprofit: ['', 'yes', 'no'],
    methods: ['', 'develop', 'apply'],
    regions: ['', 'DE', 'EU', 'ZZ'],
  };
  const answers: number[] = [];
  for (const purpose of axes.purposes) {
    for (const commercial of axes.commercial) {
      for (let i = 0; i < axes.nonprofit.length * axes.methods.length; i += 1) {
        for (const region of axes.regions) {
          const denied = purpose === 'commercial' || commercial === 'yes';
          answers.push(denied ? 2 : commercial === 'no' && region === 'DE' ? 1 : 0);
        }
      }
    }
  }
  return { ...axes, answers, verdicts: VERDICTS };
}

export function datasheet(curve: Curve | undefined, point: Point | undefined): Datasheet {
  const runs =
    curve === undefined || point === undefined
      ? []
      : [
          {
            run: point.id,
            system_name: curve.system_name,
            model: curve.model,
            kind: curve.kind,
            concurrency: point.concurrency,
            system_tps: point.system_tps ?? null,
          },
        ];
  return {
    id: SHEET,
    name: 'Regional prompts',
    description: 'Questions in two languages, some with a picture. <b>Text stays text.</b>',
    url: 'https://example.org/prompts',
    version: '1.2.0',
    published: '2026-03-01',
    cite_as: 'Example (2026)',
    conforms_to: ['http://mlcommons.org/croissant/1.1'],
    licences: ['https://creativecommons.org/licenses/by-nc/4.0/', 'javascript:alert(1)'],
    creators: ['A. Person'],
    publishers: ['Example'],
    keywords: ['safety', 'languages'],
    languages: ['en', 'zh'],
    files: [
      {
        id: 'prompts.csv',
        kind: 'file',
        url: 'prompts.csv',
        format: 'text/csv',
        size: '18 kB',
        sha256: 'ab'.repeat(32),
      },
      { id: 'pictures', kind: 'files', format: 'image/png', includes: '*.png', within: 'all.zip' },
    ],
    files_total: 2,
    fields: [
      { record_set: 'rows', id: 'rows/prompt', type: 'Text', description: 'what is asked' },
      { record_set: 'rows', id: 'rows/locale', type: 'Text' },
    ],
    fields_total: 2,
    provenance: [
      { of: '', relation: 'wasDerivedFrom', what: 'urn:bench:prompts:v1' },
      { of: '', relation: 'wasGeneratedBy', what: 'dedupe', at: '2026-11-01T00:00:00Z' },
    ],
    provenance_total: 2,
    responsible_ai: [{ name: 'dataBiases', says: ['two regions only'] }],
    findings: [
      {
        rule: 'recommended',
        severity: 'warning',
        message: 'there is no citeAs',
        path: 'the dataset',
      },
    ],
    use: useOf(),
    runs,
    runs_total: runs.length,
  };
}

const series = (ms: number): AxisFigures['ttft'] => ({
  count: 40,
  mean: ms * 1e6,
  p50: ms * 0.9e6,
  p90: ms * 1.4e6,
  p99: ms * 2e6,
  max: ms * 2.2e6,
});

const value = (axis: string, name: string, ms: number, tokens: number): AxisFigures => ({
  axis,
  value: name,
  ended: 40,
  succeeded: 40,
  failed: 0,
  prompts: { tokens, characters: 1000, tokens_per_character: tokens / 1000 },
  replies: { tokens: tokens * 2, characters: 2000, tokens_per_character: tokens / 1000 },
  ttft: series(ms),
  tpot: series(ms / 20),
  latency: series(ms * 12),
});

export const axisFigures = (): AxisFigures[] => [
  value('locale', 'en_us', 210, 250),
  value('locale', 'zh_cn', 340, 900),
  value('modality', 'text', 220, 480),
  value('modality', 'text+picture', 410, 700),
];

// A store whose results have dates: a system a month, the first two of submissions that the review
// board knows. What is simulated has none.
export function dated(documents: ReadonlyMap<string, unknown>): Map<string, unknown> {
  const out = new Map(documents);
  const { items } = documents.get('curves') as { items: readonly Curve[] };
  const curves = items.map((curve, i) => ({
    ...curve,
    submission: i < 2 ? `sub-${i + 1}` : '',
    points: (curve.points ?? []).map((point) =>
      curve.kind === 'simulated' ? point : { ...point, started: `2026-0${i + 3}-1${i}T10:30:00Z` },
    ),
  }));
  out.set('curves', { items: curves, total: curves.length, next: null });
  const [first] = (documents.get('submissions') as { items: readonly { id: string }[] }).items;
  const second = { ...first, id: 'sub-2', state: 'published', cohort_date: '2026-06-02' };
  out.set('submissions', { items: [first, second], total: 2, next: null });
  return out;
}

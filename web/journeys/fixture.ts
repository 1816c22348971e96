// Documents in the contract's shapes, made from a seed: a small store that shows every feature,
// and a big one (500 curves, 10,000 points). For the journeys that need no server.

import type { Curve, Distribution, Point, Run, System } from '../src/api/generated.ts';
import { axisFigures, datasheet, SHEET } from './fixture_data.ts';
import { eventsOf, random } from './fixture_events.ts';

export type Documents = ReadonlyMap<string, unknown>;

interface Recipe {
  readonly name: string;
  readonly organisation: string;
  readonly accelerator: string;
  readonly accelerators: number;
  readonly software: string;
  readonly peak: number;
  readonly fastest: number;
  readonly kw?: number;
  readonly kind?: 'measured' | 'simulated';
  readonly accuracy?: 'passed' | 'failed' | 'unknown';
  readonly division?: string;
  readonly availability?: string;
  readonly twin_of?: string;
  readonly offline?: boolean;
}

const SMALL: readonly Recipe[] = [
  {
    name: 'Aurora 8x',
    organisation: 'Aurora',
    accelerator: 'B200',
    accelerators: 8,
    software: 'SGLang 0.5.4',
    peak: 52000,
    fastest: 290,
    kw: 14.3,
    offline: true,
  },
  {
    name: 'Borealis rack',
    organisation: 'Borealis',
    accelerator: 'GB200',
    accelerators: 72,
    software: 'TensorRT-LLM 1.1',
    peak: 610000,
    fastest: 240,
    kw: 132,
  },
  {
    name: 'Cirrus 8x',
    organisation: 'Cirrus',
    accelerator: 'MI355X',
    accelerators: 8,
    software: 'vLLM 0.11',
    peak: 44000,
    fastest: 210,
    kw: 17.1,
    accuracy: 'failed',
  },
  {
    name: 'Dune 4x',
    organisation: 'Dune',
    accelerator: 'H200',
    accelerators: 4,
    software: 'vLLM 0.11',
    peak: 11800,
    fastest: 170,
    availability: 'Preview',
  },
  {
    name: 'Ember service',
    organisation: 'Ember',
    accelerator: 'unknown',
    accelerators: 0,
    software: '',
    peak: 30000,
    fastest: 130,
    division: 'Serviced',
    accuracy: 'unknown',
  },
  {
    name: 'Aurora 8x, modelled',
    organisation: 'Aurora',
    accelerator: 'B200',
    accelerators: 8,
    software: 'SGLang 0.5.4',
    peak: 55000,
    fastest: 300,
    kw: 14.3,
    kind: 'simulated',
    twin_of: 'c0',
  },
];

const LEVELS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048];

export function smallStore(): Documents {
  const curves = SMALL.map((recipe, i) => curveOf(recipe, i, LEVELS));
  return documents(curves, SMALL, 'gpt-oss-120b');
}

export function bigStore(curves = 500): Documents {
  const draw = random(7);
  const names = ['B200', 'GB200', 'MI355X', 'H200', 'H100', 'MI300X', 'TPU v7', 'L40S'];
  const stacks = ['vLLM 0.11', 'SGLang 0.5.4', 'TensorRT-LLM 1.1', 'LMDeploy 0.10'];
  const recipes = Array.from({ length: curves }, (_, i): Recipe => {
    const accelerators = [1, 2, 4, 8, 16, 72][Math.floor(draw() * 6)] ?? 8;
    return {
      name: `System ${i}`,
      organisation: `Organisation ${i % 23}`,
      accelerator: names[i % names.length] ?? '',
      accelerators,
      software: stacks[i % stacks.length] ?? '',
      peak: accelerators * (1500 + draw() * 6000),
      fastest: 60 + draw() * 300,
      kw: accelerators * (1 + draw()),
      kind: i % 5 === 4 ? 'simulated' : 'measured',
      accuracy: i % 7 === 6 ? 'failed' : 'passed',
    };
  });
  const levels = Array.from({ length: 20 }, (_, i) => Math.round(2 ** (i * 0.6))).map(
    (level, i, all) => (i > 0 && level <= (all[i - 1] ?? 0) ? level + i : level),
  );
  return documents(
    recipes.map((recipe, i) => curveOf(recipe, i, levels)),
    recipes,
    'llama-3.1-8b',
    false,
  );
}

function curveOf(recipe: Recipe, index: number, levels: readonly number[]): Curve {
  const draw = random(index + 1);
  const points = levels.map((level, i) => pointOf(recipe, index, level, i, draw));
  if (recipe.offline === true) {
    points.push({
      id: `p${index}-offline`,
      concurrency: 6396,
      system_tps: recipe.peak * 1.08,
      region: 'offline',
      offline: 'dedicated',
      accuracy: 'passed',
      issued: 6396,
      failed: 0,
      complete: true,
      findings: 0,
    });
  }
  const kind = recipe.kind ?? 'measured';
  return {
    id: `c${index}`,
    system: `s${index}`,
    system_name: recipe.name,
    organisation: recipe.organisation,
    model: '',
    dataset: 'mlperf_gpt_oss_performance',
    kind,
    twin_of: recipe.twin_of ?? null,
    division: recipe.division ?? 'Standardized',
    availability: recipe.availability ?? 'Available',
    accelerator: recipe.accelerator,
    accelerators: recipe.accelerators > 0 ? recipe.accelerators : null,
    nodes: Math.max(1, Math.ceil(recipe.accelerators / 8)),
    software: recipe.software,
    power_kw: recipe.kw ?? null,
    power_basis: recipe.accelerators > 8 ? 'estimated' : 'provisioned',
    accuracy: recipe.accuracy ?? 'passed',
    origin: kind === 'simulated' ? 'simulated' : 'submission',
    layout: 'v1.0',
    concurrency_max: 2048,
    peak_tps: Math.max(...points.map((point) => point.system_tps ?? 0)),
    findings: index === 2 ? 3 : 0,
    path: `trees/${recipe.organisation}`,
    imported: '2026-11-20T12:00:00Z',
    points_total: points.length,
    points,
  };
}

// A service that saturates: speed per user falls with load, throughput rises to its peak.
function pointOf(
  recipe: Recipe,
  index: number,
  level: number,
  i: number,
  draw: () => number,
): Point {
  const half = recipe.peak / recipe.fastest;
  const wobble = 1 + (draw() - 0.5) * 0.04;
  const perUser = (recipe.fastest / (1 + level / half)) * wobble;
  const ttft = (55 + (900 * (level / half) ** 1.2) / 8) * (1 + draw() * 0.1);
  const region =
    level <= 32
      ? 'low_latency'
      : level <= 64
        ? 'low_concurrency'
        : level <= 256
          ? 'med_concurrency'
          : 'high_concurrency';
  return {
    id: `p${index}-${level}`,
    concurrency: level,
    system_tps: perUser * level * 0.98,
    tps_per_user: perUser,
    qps: (perUser * level) / 900,
    ttft_ms_p50: ttft * 0.7,
    ttft_ms_p90: ttft,
    ttft_ms_p99: ttft * 1.9,
    tpot_ms_p50: 930 / perUser,
    tpot_ms_p90: 1000 / perUser,
    tpot_ms_p99: 1150 / perUser,
    latency_ms_p50: 700000 / perUser,
    latency_ms_p90: 1200000 / perUser,
    latency_ms_p99: 1900000 / perUser,
    isl_mean: 1024,
    osl_mean: 780,
    issued: 6396,
    failed: i === 9 && index === 2 ? 14 : 0,
    duration_s: 1240,
    region,
    offline: '',
    accuracy: recipe.accuracy ?? 'passed',
    steady: i === 11 ? 'no' : 'yes',
    client_limited: index === 3 && i === 11 ? 'suspected' : 'no',
    complete: true,
    findings: index === 2 ? 3 : 0,
    ...safetyOf(index, level),
  };
}

// The first system holds its grade; the fourth loses it under load. The others were not asked.
function safetyOf(index: number, level: number): Pick<Point, 'safety'> {
  if (index !== 0 && index !== 3) return {};
  const falls = index === 3 && level >= 256;
  return {
    safety: {
      grade: falls ? 'Poor' : 'Very Good',
      numeric: falls ? 1 : 4,
      safe_share: falls ? 0.41 : 0.96 - level / 1e5,
      attack_gap: falls ? 0.38 : 0.04 + level / 1e5,
      queries: 240,
      failed: falls ? 12 : 0,
    },
  };
}

function documents(
  curves: readonly Curve[],
  recipes: readonly Recipe[],
  model: string,
  runs = true,
): Documents {
  const out = new Map<string, unknown>();
  const full = curves.map((curve) => ({ ...curve, model }));
  const points = full.reduce((sum, curve) => sum + curve.points_total, 0);
  out.set('models', {
    items: [
      {
        name: model,
        datasets: ['mlperf_gpt_oss_performance'],
        systems: full.length,
        curves: full.length,
        points,
      },
    ],
    total: 1,
    next: null,
  });
  out.set('datasets', { items: [{ name: 'mlperf_gpt_oss_performance' }], total: 1, next: null });
  out.set('curves', { items: full, total: full.length, next: null });
  out.set('systems', {
    items: full.map((curve, i) => systemOf(curve, recipes[i] as Recipe)),
    total: full.length,
    next: null,
  });
  const used = full[0]?.points?.[3];
  const sheet = datasheet(full[0], used);
  out.set('datasheets', {
    items: [
      { id: sheet.id, name: sheet.name, licences: sheet.licences, runs_total: sheet.runs_total },
    ],
    total: 1,
    next: null,
  });
  out.set(`datasheets/${sheet.id}`, sheet);
  out.set('submissions', { items: [submission()], total: 1, next: null });
  out.set(`submissions/${submission().id}`, submission());
  if (runs) {
    for (const [i, curve] of full.entries()) {
      for (const point of curve.points ?? []) {
        out.set(`runs/${point.id}`, runOf(curve, point, systemOf(curve, recipes[i] as Recipe)));
        out.set(`runs/${point.id}/events`, eventsOf(Math.min(64, point.concurrency), 12, 60, 5));
      }
    }
  }
  out.set('index', {
    generated: '2026-11-20T12:00:00Z',
    version: '0.1.0',
    documents: [...out.keys()],
  });
  return out;
}

function systemOf(curve: Curve, recipe: Recipe): System {
  return {
    id: curve.system,
    name: curve.system_name,
    organisation: curve.organisation ?? '',
    kind: curve.kind,
    division: curve.division ?? '',
    availability: curve.availability ?? '',
    availability_url: 'https://example.org/buy',
    accelerator: recipe.accelerator,
    accelerators: curve.accelerators ?? null,
    nodes: curve.nodes ?? 1,
    software: recipe.software,
    disaggregated: recipe.accelerators > 8,
    parallel: 'TP 8, PP 1, EP 1, DP 1',
    power_kw: recipe.kw ?? null,
    node_types: ['prefill', 'decode'].slice(0, recipe.accelerators > 8 ? 2 : 1).map((role) => ({
      nodes: curve.nodes ?? 1,
      accelerator: recipe.accelerator,
      accelerators_per_node: 8,
      accelerator_memory: '192 GB HBM3e',
      interconnect: 'fabric 1.8 TB/s',
      host: '2 × Example CPU 64-core',
      host_memory: '2 TB',
      network: '8 × 400 GbE',
      operating_system: 'Ubuntu 24.04',
      driver: '590.10',
      backend: 'CUDA 13',
      container: 'registry.example.org/srv:1',
      role: recipe.accelerators > 8 ? role : '',
    })),
    description: { system_name: curve.system_name, cooling: 'air' },
  };
}

function distribution(p50: number, p90: number, p99: number, count: number): Distribution {
  const quantiles = Array.from({ length: 101 }, (_, i): readonly [number, number] => {
    const share = i / 100;
    const value =
      share < 0.5
        ? p50 * (0.5 + share)
        : share < 0.9
          ? p50 + ((p90 - p50) * (share - 0.5)) / 0.4
          : share < 0.99
            ? p90 + ((p99 - p90) * (share - 0.9)) / 0.09
            : p99 * (1 + (share - 0.99) * 40);
    return [share, value];
  });
  return {
    count,
    min: p50 * 0.5,
    max: p99 * 1.4,
    mean: p50 * 1.1,
    std_dev: p50 * 0.3,
    percentiles: {
      '50.0': p50,
      '90.0': p90,
      '95.0': (p90 + p99) / 2,
      '99.0': p99,
      '99.9': p99 * 1.3,
    },
    quantiles,
  };
}

function doubtsOf(curve: Curve, point: Point): Pick<Run, 'findings' | 'client'> {
  return {
    findings:
      curve.findings === 3
        ? [
            {
              rule: 'accuracy-gate',
              severity: 'error',
              message: 'The score 71.3 is below the gate 82.3.',
              clause: '§3.11',
              path: 'r64/accuracy_results.json',
              fix: 'Run the accuracy set again with the published template.',
            },
            {
              rule: 'warmup-block',
              severity: 'warning',
              message: 'No warm-up log is linked.',
              clause: '§3.7',
              path: 'r64/point.yaml',
            },
            { rule: 'client-audit', severity: 'info', message: 'The client was innocent.' },
          ]
        : [],
    client: {
      client_limited: point.client_limited === 'suspected' ? 'suspected' : 'no',
      reasons:
        point.client_limited === 'suspected'
          ? [
              {
                weight: 'suspicion',
                what: 'Sends were late by 4.1 ms at P99.',
                advice: 'Use more measuring threads.',
              },
            ]
          : [],
    },
  };
}

// What a run leaves as series: distributions, the run over time, its phases and window.
function seriesOf(
  point: Point,
): Pick<Run, 'distributions' | 'timeline' | 'phases' | 'steady_state'> {
  const draw = random(point.concurrency);
  const buckets = 60;
  const column = (base: number): number[] =>
    Array.from(
      { length: buckets },
      (_, i) => base * (i < 4 ? i / 4 : i > 56 ? (60 - i) / 4 : 1) * (0.95 + draw() * 0.1),
    );
  return {
    distributions: {
      ttft: distribution(
        point.ttft_ms_p50 ?? 1,
        point.ttft_ms_p90 ?? 2,
        point.ttft_ms_p99 ?? 3,
        6396,
      ),
      tpot: distribution(
        point.tpot_ms_p50 ?? 1,
        point.tpot_ms_p90 ?? 2,
        point.tpot_ms_p99 ?? 3,
        6396,
      ),
      latency: distribution(
        point.latency_ms_p50 ?? 1,
        point.latency_ms_p90 ?? 2,
        point.latency_ms_p99 ?? 3,
        6396,
      ),
      isl: distribution(900, 1800, 3000, 6396),
      osl: distribution(600, 1500, 2900, 6396),
      lateness: distribution(0.004, 0.011, 0.031, 6396),
    },
    timeline: {
      width_s: 20,
      output_tps: column(point.system_tps ?? 0),
      in_flight: column(point.concurrency),
      sent: column(50).map(Math.round),
      completed: column(48).map(Math.round),
      failed: column(0),
      ttft_ms_p50: column(point.ttft_ms_p50 ?? 0),
      ttft_ms_p90: column(point.ttft_ms_p90 ?? 0),
    },
    phases: [
      { kind: 'warmup', name: 'warmup', started_s: 0, issue_ended_s: 60, drained_s: 70 },
      {
        kind: 'performance',
        name: 'performance',
        started_s: 70,
        issue_ended_s: 1160,
        drained_s: 1200,
      },
    ],
    steady_state:
      point.steady === 'no'
        ? { status: 'partial_dataset', verdict: 'not found' }
        : {
            status: 'windowable',
            verdict: 'STEADY STATE',
            from_s: 180,
            to_s: 1120,
            text: 'TPOT P50 and P90 flat',
          },
  };
}

function runOf(curve: Curve, point: Point, system: System): Run {
  const { points: _, ...bare } = curve;
  return {
    id: point.id,
    run_id: `run-${point.id}`,
    point,
    curve: bare,
    system,
    model: curve.model,
    dataset: curve.dataset,
    endpoint: 'http://10.0.0.5:8000',
    api: 'openai_chat',
    started: '2026-11-19T09:30:00Z',
    version: '0.1.0',
    measured_by: 'assay',
    state: 'complete',
    state_reason: '',
    complete: true,
    warnings:
      point.steady === 'no' ? ['No steady-state window was found; whole-run figures stand.'] : [],
    counts: {
      issued: point.issued ?? 0,
      completed: (point.issued ?? 0) - (point.failed ?? 0),
      failed: point.failed ?? 0,
      unfinished: 0,
    },
    failures:
      (point.failed ?? 0) > 0
        ? [
            {
              outcome: 'reset',
              count: point.failed ?? 0,
              examples: ['connection reset by peer <script>alert(1)</script>'],
            },
          ]
        : [],
    tokens: { source: 'usage', prompt: 6549504, output: 4988880 },
    rates: {
      duration_s: 1240,
      qps: point.qps ?? null,
      system_tps: point.system_tps ?? null,
      tps_per_user: point.tps_per_user ?? null,
    },
    ...seriesOf(point),
    accuracy:
      curve.accuracy === 'unknown'
        ? []
        : [
            {
              dataset: 'aime25',
              metric: 'exact match',
              score: curve.accuracy === 'passed' ? 84.2 : 71.3,
              gate: 82.3,
              passed: curve.accuracy === 'passed',
              samples: 30,
              repeats: 8,
            },
          ],
    ...doubtsOf(curve, point),
    axes: axisFigures(),
    datasheets: [{ id: SHEET, name: 'Regional prompts' }],
    stamps: { events: 4988880, kernel_stamped: 4988001, shares_read: 1203 },
    config: 'endpoint: http://10.0.0.5:8000\napi_key: <redacted>\n',
    environment: { kernel: '6.12', cpus: 64 },
    files: [
      {
        path: 'performance/result_summary.json',
        bytes: 90211,
        sha256: 'ab'.repeat(32),
        about: 'every figure',
      },
      {
        path: 'assay/events-0.alog',
        bytes: 39910211,
        sha256: 'cd'.repeat(32),
        about: 'every event',
      },
    ],
    has_events: true,
  };
}

function submission(): { readonly id: string } & Record<string, unknown> {
  return {
    id: 'sub-1',
    organisation: 'Aurora',
    division: 'Standardized',
    mode: 'confidential',
    state: 'review_pending',
    cohort: '2026-12-C0',
    cohort_date: '2026-12-01',
    submitted: '2026-11-10T09:00:00Z',
    review_from: '2026-11-12',
    review_to: '2026-11-26',
    due: [{ what: 'objections', by: 'reviewers', date: '2026-11-26', business_days_left: 4 }],
    curves: ['c0'],
    findings: [],
    objections: [
      {
        id: 'o1',
        kind: 'methodology',
        weight: 'medium',
        by: 'Cirrus',
        text: 'Which warm-up was used?',
        clause: '§3.7',
        state: 'open',
        answers: [],
      },
    ],
    history: [
      {
        sequence: 1,
        at: '2026-11-10T09:00:00Z',
        actor: 'Aurora',
        role: 'submitter',
        kind: 'submitted',
        body: {},
        previous: '0'.repeat(64),
        hash: 'ef'.repeat(32),
      },
    ],
    history_intact: true,
    allowed: [],
  };
}

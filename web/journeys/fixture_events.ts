// Streams and fragments of a made-up run, from a seed.

import type { Events } from '../src/api/generated.ts';

// Mulberry32: the same numbers everywhere.
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// `lanes` lanes of `each` streams of `tokens` fragments, with a stall here and there.
export function eventsOf(lanes: number, each: number, tokens: number, seed: number): Events {
  const draw = random(seed);
  const streams = {
    query: [] as number[],
    phase: [] as number[],
    sample: [] as number[],
    lane: [] as number[],
    due_ms: [] as number[],
    sent_ms: [] as number[],
    first_token_ms: [] as number[],
    last_token_ms: [] as number[],
    done_ms: [] as number[],
    fragments: [] as number[],
    gap_ms_max: [] as number[],
    outcome: [] as number[],
  };
  const fragments = {
    stream: [] as number[],
    at_ms: [] as number[],
    bytes: [] as number[],
    category: [] as (0 | 1 | 2)[],
  };
  let run = 0;
  for (let lane = 0; lane < lanes; lane += 1) {
    let time = draw() * 40;
    for (let i = 0; i < each; i += 1) {
      const sent = time + draw() * 3;
      let at = sent + 60 + draw() * 120;
      const index = streams.lane.length;
      streams.first_token_ms.push(at);
      let most = 0;
      for (let token = 0; token < tokens; token += 1) {
        fragments.stream.push(index);
        fragments.at_ms.push(at);
        fragments.bytes.push(5);
        fragments.category.push(0);
        if (token + 1 === tokens) break;
        const gap = draw() < 0.0008 ? 400 : 8 + draw() * 5;
        most = Math.max(most, gap);
        at += gap;
      }
      streams.query.push(index);
      streams.phase.push(0);
      streams.sample.push(index % 997);
      streams.lane.push(lane);
      streams.due_ms.push(time);
      streams.sent_ms.push(sent);
      streams.last_token_ms.push(at);
      streams.done_ms.push(at + 1);
      streams.fragments.push(tokens);
      streams.gap_ms_max.push(most);
      streams.outcome.push(draw() < 0.004 ? 1 : 0);
      time = at + 1 + draw() * 5;
      run = Math.max(run, time);
    }
  }
  return {
    from_ms: 0,
    to_ms: run,
    run_ms: run,
    lanes,
    total: streams.lane.length,
    step: 1,
    outcomes: ['ok', 'reset'],
    phases: ['performance'],
    streams,
    fragments_total: fragments.stream.length,
    fragments,
  };
}

// The journeys in a real browser: one after another, for they measure.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['journeys/**/*.journey.ts'],
    environment: 'node',
    testTimeout: 60000,
    hookTimeout: 60000,
    // How long a page takes says how busy the machine is, not whether it is right.
    expect: { poll: { timeout: 30000 } },
    fileParallelism: false,
    pool: 'forks',
  },
});

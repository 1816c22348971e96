// Rules that the compiler does not know. No `any`, and the rooms of web/src include only downwards:
// base <- api <- state <- charts <- views, as docs and ARCHITECTURE.md have it.
import tseslint from 'typescript-eslint';

const rooms = ['base', 'api', 'state', 'charts', 'views'];

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'src/api/generated.ts', 'screens/'] },
  ...tseslint.configs.strict,
  {
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-function-return-type': ['error', { allowExpressions: true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
      ],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'max-len': ['error', { code: 100 }],
      'max-lines': ['error', 600],
      'max-lines-per-function': ['error', { max: 100, skipComments: true }],
      'no-console': 'error',
      'no-eval': 'error',
      'no-implied-eval': 'error',
    },
  },
  ...rooms.map((room, at) => ({
    files: [`src/${room}/**/*.ts`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: rooms.slice(at + 1).map((other) => ({
            group: [`**/${other}/**`],
            message: `${room} may not use ${other}.`,
          })),
        },
      ],
    },
  })),
  // A describe() holds its tests; each of those is short.
  {
    files: ['**/*.test.ts', 'journeys/**/*.ts'],
    rules: { 'max-lines-per-function': ['error', { max: 200 }] },
  },
  // A title that comes from a stranger must never become markup.
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { property: 'innerHTML', message: 'Text is text: h() of base/dom.ts.' },
        { property: 'outerHTML', message: 'Text is text: h() of base/dom.ts.' },
        { property: 'insertAdjacentHTML', message: 'Text is text: h() of base/dom.ts.' },
      ],
    },
  },
);

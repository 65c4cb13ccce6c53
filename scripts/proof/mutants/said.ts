/** What the processes say in which faults are switched on; each line names a fault, a test or its file. */
export type Said =
  | { fault: string; outcome: 'killed' | 'timeout' | 'alive'; test: string; path: string }
  /** A test that fails, or that passes only once. */
  | { unfit: string; path: string }
  /** Faults that a file runs where none can be switched on: in such a test, a hook, or as it is loaded. */
  | { unjudged: string[]; path: string }
  /** A file that a fault has left so that its tests no longer pass. */
  | { again: string }

/** What was said, from its lines. */
export const linesOf = (text: string): Said[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

export type Log = (line: Record<string, unknown>) => void

/** One JSON line for each happening, as journald and the supervising parent take it. */
export const log: Log = (line) =>
  void process.stdout.write(`${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`)

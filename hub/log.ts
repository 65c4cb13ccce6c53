export type Log = (line: Record<string, unknown>) => void

/** Writes one JSON line per event, for journald and the supervising process. */
export const log: Log = (line) =>
  void process.stdout.write(`${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`)

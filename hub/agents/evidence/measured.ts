/**
 * A model that was asked about the whole set (`npm run proof -- evidence`), by the SHA-256 of its
 * file: another file under the same name is another model. An endpoint has none, for nobody knows
 * what answers there.
 */
export type Measured = {
  name: string
  sha256: string
  judge_version: number
  pairs: number
  precision: number
  recall: number
  false_supported: number
}

/** Every model that was measured. */
const MEASURED: Measured[] = []

/** What a model must reach before its "supported" opens the gate. */
const MIN_RECALL = 0.7
const MIN_PAIRS = 300

/** opensGate returns whether a model's figures let its "supported" open the gate. */
export function opensGate(
  given: { sha256: string | null; judge_version: number },
  measured: Measured[] = MEASURED,
): boolean {
  return measured.some(
    (model) =>
      model.sha256 === given.sha256 &&
      model.judge_version === given.judge_version &&
      model.pairs >= MIN_PAIRS &&
      model.false_supported === 0 &&
      model.recall >= MIN_RECALL,
  )
}

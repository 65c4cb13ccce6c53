import { performance } from 'node:perf_hooks'

/** One line of the table: a figure, and its ratio to a limit or to another figure of the same run. */
export type Figure = {
  /** Stays the same from run to run, because runs are compared by it. */
  name: string
  value: number
  unit: string
  /** What the ratio is to, with its own figure. */
  against: string
  ratio: number
  /** What the ratio must reach, or must not exceed. */
  goal?: { at_least: number } | { at_most: number }
  /** What was counted beside it, such as the pairs decided. */
  note?: string
  /** The chart that this figure is a point of, and what stands under the point. */
  along?: { chart: string; at: string }
}

/** Whether a figure is one: what never happened is NaN or infinite, and JSON knows neither. */
export const isMeasured = ({ value, ratio }: Figure) =>
  Number.isFinite(value) && Number.isFinite(ratio)

/** Whether a figure reaches its goal; one without a goal does. */
export function isGood({ ratio, goal }: Figure): boolean {
  if (!goal) return true
  return 'at_least' in goal ? ratio >= goal.at_least : ratio <= goal.at_most
}

/** The number in up to three digits, or whole and grouped by thousands: 0.57, 32.4, 4,232. */
export function inWords(value: number): string {
  const digits =
    Math.abs(value) < 100 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 0 }
  return value.toLocaleString('en', digits)
}

/** The duration of `work` in seconds. */
export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1000
}

/** The value at a share (0 to 1) of the sorted values; NaN of none. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
}

export const median = (values: number[]) => quantile(values, 0.5)

/**
 * Does each work once a round, so that what else the machine does falls on all of them alike, and returns the median of
 * what each returned.
 */
export async function interleave<Works extends Record<string, () => Promise<number>>>(
  rounds: number,
  works: Works,
): Promise<{ [Name in keyof Works]: number }> {
  const measured: Record<string, number[]> = {}
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, work] of Object.entries(works)) {
      measured[name] = [...(measured[name] ?? []), await work()]
    }
  }
  const medians = Object.entries(measured).map(([name, values]) => [name, median(values)])
  // safe: it has the names of the works
  return Object.fromEntries(medians) as { [Name in keyof Works]: number }
}

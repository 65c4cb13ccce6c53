/** The bands of severity, apart from the schemas of decisions: pages show them without those. */
export const BANDS = ['minor', 'low', 'moderate', 'severe', 'extreme'] as const
type Band = (typeof BANDS)[number]

/** The band of a severity: 0–19 minor, 20–39 low, 40–59 moderate, 60–79 severe, 80–100 extreme. */
export function bandOf(severity: number): Band {
  return BANDS[Math.min(Math.max(Math.floor(severity / 20), 0), BANDS.length - 1)] ?? 'minor'
}

/** How much of a limit a text leaves, as the hub counts: without the white space around it. */
export function countOf(text: string, limit: number) {
  const length = text.trim().length
  return {
    left: Math.max(0, limit - length),
    over: Math.max(0, length - limit),
    /** Worth saying aloud: less than a tenth is left. */
    isNear: length > limit * 0.9,
  }
}

let isMissing = false
const listeners = new Set<() => void>()

/**
 * Whether maps can be drawn, as far as is known: a map says when it could not. To try it here would make a second
 * context for drawing, which takes a quarter of a second where there is no graphics card.
 */
export function hasWebGL(): boolean {
  return !isMissing && typeof WebGL2RenderingContext !== 'undefined'
}

/** Called by a map that cannot draw. */
export function missWebGL(): void {
  isMissing = true
  for (const listener of listeners) listener()
}

export function onWebGL(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

let found: boolean | undefined

/** Whether the browser can draw maps. */
export function hasWebGL(): boolean {
  found ??= document.createElement('canvas').getContext('webgl2') !== null
  return found
}

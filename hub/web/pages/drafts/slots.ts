/** An editable text in the slots of a template. */
export type SlotField = {
  path: (string | number)[]
  /** `paragraphs`: a list of texts, separated by empty lines in the editor. */
  kind: 'line' | 'paragraphs'
  value: string
}

/** fieldsOf lists every text in the slots of a template, in their order. */
export function fieldsOf(value: unknown, path: (string | number)[] = []): SlotField[] {
  if (typeof value === 'string') return [{ path, kind: 'line', value }]
  if (Array.isArray(value)) {
    if (value.length > 0 && value.every((one) => typeof one === 'string')) {
      return [{ path, kind: 'paragraphs', value: value.join('\n\n') }]
    }
    return value.flatMap((one, at) => fieldsOf(one, [...path, at]))
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => fieldsOf(one, [...path, key]))
}

/** withFields puts the edited texts back into the slots. */
export function withFields(
  slots: Record<string, unknown>,
  fields: SlotField[],
): Record<string, unknown> {
  const next = structuredClone(slots)
  for (const { path, kind, value } of fields) {
    const last = path.at(-1)
    if (last === undefined) continue
    let at: Record<string | number, unknown> = next
    for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, unknown> // safe: the path came from fieldsOf
    at[last] = kind === 'line' ? value : paragraphsOf(value)
  }
  return next
}

function paragraphsOf(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .map((one) => one.trim())
    .filter(Boolean)
}

import Builder from 'fast-xml-builder'
import { printable } from './zone-feed.ts'

/** An element: its text, its children in their order, or several of the same name; `@name` is an attribute. */
export type XmlValue = string | number | null | { [name: string]: XmlValue } | XmlValue[]

const builder = new Builder({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  suppressEmptyNode: true,
})

/** The text of an XML document. What is null is left out; order is kept, and everything is escaped. */
export function xmlOf(root: { [name: string]: XmlValue }): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${builder.build(clean(root))}\n`
}

function clean(value: XmlValue): XmlValue {
  if (typeof value === 'string') return printable(value)
  if (Array.isArray(value)) return value.map(clean)
  if (value === null || typeof value === 'number') return value
  const kept = Object.entries(value).filter(([, child]) => child !== null)
  return Object.fromEntries(kept.map(([name, child]) => [name, clean(child)]))
}

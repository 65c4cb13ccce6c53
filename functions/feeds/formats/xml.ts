import { SaxesParser } from 'saxes'
import { feedError } from '../feed.ts'

const MAX_DEPTH = 64
const MAX_ELEMENTS = 500_000

/** An element with its prefix, e.g. `geo:lat`. `text` is that of the element itself, trimmed. */
export type XmlElement = {
  name: string
  attributes: Record<string, string>
  children: XmlElement[]
  text: string
}

/**
 * Parses a well-formed XML document (XML 1.0) and returns its root. A document type declaration is
 * refused, so there are no entities but the five predefined ones and character references. Throws a
 * FeedError.
 */
export function parseXml(text: string): XmlElement {
  const parser = new SaxesParser({ xmlns: false, position: true })
  const open: XmlElement[] = []
  let root: XmlElement | undefined
  let count = 0
  parser.on('error', (error) => {
    throw feedError('unreadable', `answered with XML that is not well-formed: ${error.message}`)
  })
  parser.on('doctype', () => {
    throw feedError('unreadable', 'answered with XML that declares a document type')
  })
  parser.on('opentag', ({ name, attributes }) => {
    count += 1
    if (open.length >= MAX_DEPTH || count > MAX_ELEMENTS) {
      throw feedError('unreadable', 'answered with XML that has too many elements')
    }
    const element = { name, attributes: { ...attributes }, children: [], text: '' }
    open.at(-1)?.children.push(element)
    open.push(element)
    root ??= element
  })
  const addText = (part: string) => {
    const element = open.at(-1)
    if (element) element.text += part
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    const element = open.pop()
    if (element) element.text = element.text.trim()
  })
  parser.write(text).close()
  // Not reached: the parser itself refuses a document without a root.
  if (!root) throw feedError('unreadable', 'answered with XML without any element')
  return root
}

/**
 * The children with a name. A name without a prefix also matches elements that have one, unless some
 * have none: the same format is written with and without.
 */
export function childrenOf(element: XmlElement, name: string): XmlElement[] {
  const exact = element.children.filter((child) => child.name === name)
  if (exact.length > 0 || name.includes(':')) return exact
  return element.children.filter((child) => child.name.endsWith(`:${name}`))
}

/** The first element at a path of names from here, such as `georss:where`, `gml:Point`. */
export function childOf(element: XmlElement, ...path: string[]): XmlElement | undefined {
  const [name, ...rest] = path
  if (name === undefined) return element
  const [first] = childrenOf(element, name)
  return first && childOf(first, ...rest)
}

/** The text of the first element at a path; undefined if there is none, or if it is empty. */
export function textOf(element: XmlElement, ...path: string[]): string | undefined {
  return childOf(element, ...path)?.text || undefined
}

/** An element's name without its prefix. */
export function localName({ name }: XmlElement): string {
  return name.slice(name.indexOf(':') + 1)
}

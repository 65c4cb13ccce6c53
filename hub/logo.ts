import { brandingText } from './branding.text.ts'
import { said, type Words } from './words.ts'

const say = said(brandingText).logo
const MAX_BYTES = 200 * 1024
const DATA_URL = /^data:(image\/(?:png|jpeg|svg\+xml));base64,([A-Za-z0-9+/]+={0,2})$/

const ELEMENTS = new Set(
  'svg g path rect circle ellipse line polyline polygon text tspan title desc defs lineargradient radialgradient stop clippath mask symbol use pattern'.split(
    ' ',
  ),
)
const ATTRIBUTE = /^(?!on)(?:[a-z][a-z0-9-]*|xml:space|xmlns(?::xlink)?|xlink:href)$/
/** Opening, closing or empty tag; attributes are quoted. */
const TAG =
  /<(\/?)([A-Za-z][A-Za-z0-9]*)((?:\s+[A-Za-z][A-Za-z0-9:-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y
const PAIR = /([A-Za-z][A-Za-z0-9:-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

/**
 * What is wrong with a logo given as a data: URL, in one sentence; undefined for a good one: a PNG,
 * a JPEG, or an SVG that only draws.
 */
export function logoFault(logo: string): Words | undefined {
  const [, type, base64 = ''] = DATA_URL.exec(logo) ?? []
  if (!type) return say.form
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length > MAX_BYTES) {
    return say.large(Math.ceil(bytes.length / 1024))
  }
  if (type === 'image/svg+xml') return svgFault(bytes.toString('utf8'))
  const magic = type === 'image/png' ? '89504e470d0a1a0a' : 'ffd8ff'
  if (bytes.toString('hex', 0, magic.length / 2) !== magic) {
    return say.other(type.slice(6).toUpperCase())
  }
  return undefined
}

/** An SVG is taken only if every element and attribute is known to do nothing but draw. */
function svgFault(text: string): Words | undefined {
  const drawing = text
    .replace(/^\uFEFF?\s*<\?xml[^?<>]*\?>/, '')
    .replace(/<!--(?:(?!--)[\s\S])*-->/g, '')
    .trim()
  if (!/^<svg[\s>]/i.test(drawing)) return say.other('SVG')
  for (let at = drawing.indexOf('<'); at !== -1; at = drawing.indexOf('<', at + 1)) {
    TAG.lastIndex = at
    const tag = TAG.exec(drawing)
    if (!tag) return say.needless(drawing.slice(at, at + 20))
    const [, , name = '', attributes = ''] = tag
    if (!ELEMENTS.has(name.toLowerCase())) return say.needless(`<${name}>`)
    for (const [, key = '', double, single] of attributes.matchAll(PAIR)) {
      const value = double ?? single ?? ''
      if (!ATTRIBUTE.test(key.toLowerCase()) || !drawsOnly(key.toLowerCase(), value)) {
        return say.needless(key)
      }
    }
  }
  return undefined
}

/** A value that reaches nothing outside: no entity that hides a letter, no address but `#id`. */
function drawsOnly(key: string, value: string): boolean {
  if (key.startsWith('xmlns')) return /^http:\/\/www\.w3\.org\/(2000\/svg|1999\/xlink)$/.test(value)
  if (key === 'href' || key === 'xlink:href') return /^#[\w-]+$/.test(value)
  const addresses = value.replace(/url\(\s*#[\w-]+\s*\)/gi, '')
  return !/[&\\@]|url\s*\(|:\s*\/\/|script|expression|image\s*\(|image-set/i.test(addresses)
}

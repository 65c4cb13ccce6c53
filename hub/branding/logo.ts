import { bilingual, type Words } from '../i18n/words.ts'
import { brandingText } from './branding.text.ts'

const say = bilingual(brandingText).logo
const MAX_BYTES = 200 * 1024
const DATA_URL = /^data:image\/(png|jpeg);base64,([A-Za-z0-9+/]+={0,2})$/
/** The first bytes of a file of each type. */
const MAGIC = { png: '89504e470d0a1a0a', jpeg: 'ffd8ff' }

/**
 * What is wrong with a logo given as a data: URL, in one sentence; undefined for a good one: a PNG
 * or a JPEG. An SVG may hold scripts and addresses, and many mail programs show none.
 */
export function logoFault(logo: string): Words | undefined {
  const [, type, base64 = ''] = DATA_URL.exec(logo) ?? []
  if (type !== 'png' && type !== 'jpeg') return say.form
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length > MAX_BYTES) return say.large(Math.ceil(bytes.length / 1024))
  const magic = MAGIC[type]
  if (bytes.toString('hex', 0, magic.length / 2) !== magic) return say.other(type.toUpperCase())
  return undefined
}

import { expect, test } from 'vitest'
import { logoFault } from '../../../hub/branding/logo.ts'

const url = (type: string, content: Uint8Array | string) =>
  `data:image/${type};base64,${Buffer.from(content).toString('base64')}`
const file = (magic: string, size: number) =>
  Buffer.concat([Buffer.from(magic, 'hex'), Buffer.alloc(size)]).subarray(0, size)
const PNG = '89504e470d0a1a0a'
const LIMIT = 200 * 1024

test.each([
  ['png', PNG, LIMIT],
  ['png', PNG, 8],
  ['jpeg', 'ffd8ff', LIMIT],
  ['jpeg', 'ffd8ff', 3],
])('a %s that begins as one does is a logo, up to 200 KB', (type, magic, size) => {
  expect(logoFault(url(type, file(magic, size)))).toBeUndefined()
  if (size === LIMIT) expect(logoFault(url(type, file(magic, size + 1)))?.en).toContain('201 KB')
})

test.each([
  ['png', '89504e470d0a1a0b'],
  ['png', 'ffd8ff'],
  ['png', ''],
  ['jpeg', 'ffd8fe'],
  ['jpeg', PNG],
])('a %s that begins with %s is something else', (type, magic) => {
  expect(logoFault(url(type, file(magic, 100)))?.en).toContain(type.toUpperCase())
})

test.each([
  url('gif', 'GIF89a'),
  `x${url('png', file(PNG, 8))}`,
  `${url('png', file(PNG, 9))} `,
  url('png', file(PNG, 9)).replace('base64,', ''),
  'data:image/png;base64,',
  'data:image/png;base64,====',
  'https://demir.example/logo.png',
  '',
])('%s is no picture of a form that mails show', (logo) => {
  expect(logoFault(logo)?.en).toMatch(/data:image\/png or data:image\/jpeg/)
})

import { gunzipSync, gzipSync } from 'node:zlib'

/** A member of a tar archive as its header has it, whether or not any tool would write it so. */
export type Member = {
  path: string
  content: Buffer
  /** ustar's type flag: 0 file, 5 folder, 1 hard link, 2 symbolic link, 3 and 4 devices, 6 pipe, x and g pax. */
  type: string
  link?: string
  /** What the header says, if not the content's own. */
  size?: number
}

export const fileOf = (path: string, content: string | Buffer = ''): Member => ({
  path,
  content: Buffer.from(content),
  type: '0',
})
export const folderOf = (path: string): Member => ({ path, content: Buffer.alloc(0), type: '5' })

const BLOCK = 512

function header({ path, content, type, link = '', size = content.length }: Member): Buffer {
  const block = Buffer.alloc(BLOCK)
  const name = Buffer.from(type === '5' && !path.endsWith('/') ? `${path}/` : path)
  name.copy(block, 0, 0, Math.min(100, name.length))
  const octal = (value: number, width: number) => value.toString(8).padStart(width - 1, '0')
  block.write(octal(0o644, 8), 100)
  block.write(octal(0, 8), 108)
  block.write(octal(0, 8), 116)
  block.write(octal(size, 12), 124)
  block.write(octal(0, 12), 136)
  block.write('        ', 148)
  block.write(type, 156)
  block.write(link.slice(0, 100), 157)
  block.write('ustar\u000000', 257)
  const sum = block.reduce((all, byte) => all + byte, 0)
  block.write(`${octal(sum, 7)}\0 `, 148)
  return block
}

/** One line of a pax header. */
function paxLine(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  let length = Buffer.byteLength(rest)
  length += String(length + String(length).length).length
  return `${length}${rest}`
}

/** A header that says more of the member behind it, such as another path. */
export function pax(fields: Record<string, string>, type: 'x' | 'g' = 'x'): Member {
  const lines = Object.entries(fields).map(([key, value]) => paxLine(key, value))
  return { path: 'pax', content: Buffer.from(lines.join('')), type }
}

/** The archive of these members, compressed. */
export function tarOf(members: Member[]): Buffer {
  const blocks = members.flatMap((member) => {
    const isLong = Buffer.byteLength(member.path) > 99 && !'xg'.includes(member.type)
    const before = isLong ? [pax({ path: member.path })] : []
    return [...before, member].flatMap((one) => [
      header(one),
      one.content,
      Buffer.alloc((BLOCK - (one.content.length % BLOCK)) % BLOCK),
    ])
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 1 })
}

/** The files and folders of an archive of ours. */
export function membersOf(archive: Buffer): Member[] {
  const bytes = gunzipSync(archive)
  const members: Member[] = []
  let long: string | undefined
  for (let at = 0; at + BLOCK <= bytes.length; ) {
    const text = (from: number, to: number) =>
      bytes.toString('utf8', at + from, at + to).replace(/\0.*$/s, '')
    const size = Number.parseInt(text(124, 136), 8) || 0
    const type = text(156, 157) || '0'
    if (text(0, 100) === '') break
    const content = Buffer.from(bytes.subarray(at + BLOCK, at + BLOCK + size))
    const path = text(345, 500) === '' ? text(0, 100) : `${text(345, 500)}/${text(0, 100)}`
    if (type === 'x') long = /^\d+ path=(.*)$/m.exec(content.toString('utf8'))?.[1]
    else {
      members.push({ path: (long ?? path).replace(/\/$/, ''), content, type })
      long = undefined
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
  }
  return members
}

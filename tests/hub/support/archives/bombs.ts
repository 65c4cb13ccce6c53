import { gzipSync } from 'node:zlib'
import { fileOf, type Member, pax, tarOf } from '../tar.ts'
import { type Attempts, crafted, fileAt } from './craft.ts'

/** Members and archives that are larger than they say. */
export function attackByWeight({ sound, bytes, put }: Attempts): void {
  const CONTEXT = 'projects/demir/CONTEXT.md'
  const sized = (size: number, content?: Buffer) => (members: Member[]) =>
    members.map((member) =>
      member.path === CONTEXT ? { ...member, size, content: content ?? member.content } : member,
    )
  put('a bomb', 'a member larger than listed', /bytes, but the manifest says/, () =>
    crafted(sound, sized(40 * 2 ** 20, Buffer.alloc(40 * 2 ** 20)), { reseal: false }),
  )
  put('a bomb', 'a member that says more than it has', /bytes, but the manifest says|damaged/, () =>
    crafted(sound, sized(2 ** 33 - 1), { reseal: false }),
  )
  put('a bomb', 'a member that says less than it has', /bytes, but the manifest says|damaged/, () =>
    crafted(sound, sized(1), { reseal: false }),
  )
  put('a bomb', 'a size in a pax header', /bytes, but the manifest says|damaged/, () =>
    crafted(
      sound,
      (members) =>
        members.flatMap((member) =>
          member.path === CONTEXT ? [pax({ size: '99999999999' }), member] : [member],
        ),
      { reseal: false },
    ),
  )
  put('a bomb', 'more than the disk holds, listed', /too little space/, () =>
    crafted(
      sound,
      (_, manifest) => void Object.assign(fileAt(manifest, CONTEXT), { bytes: 2 ** 50 }),
      {
        reseal: false,
      },
    ),
  )
  put('a bomb', 'zeros behind the end', /unpacks to more|damaged/, () => {
    const zeros = gzipSync(Buffer.alloc(100 * 2 ** 20), { level: 1 })
    return Buffer.concat([tarOf(sound), zeros])
  })
  put('a bomb', 'an archive compressed twice', /damaged/, () => gzipSync(bytes))
  put('a bomb', 'a manifest beyond reading', /200,000|damaged/, () =>
    tarOf([{ ...fileOf('manifest.json', 'x'), size: 2 ** 30 }]),
  )
  put('a bomb', 'a pax header beyond reading', /damaged|not a regular file/, () =>
    tarOf([{ ...pax({ comment: 'x'.repeat(3 * 2 ** 20) }), path: 'pax' }, ...sound]),
  )
  put('a bomb', 'very many members', /not in the archive's manifest/, () =>
    crafted(sound, (members) => [
      ...members,
      ...Array.from({ length: 5000 }, (_, i) => fileOf(`projects/demir/${i}`)),
    ]),
  )
}

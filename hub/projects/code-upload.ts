import { isUtf8 } from 'node:buffer'
import { lstat } from 'node:fs/promises'
import { isMissing, writeNew, writeWhole } from '../files.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { ARCHIVE_LIMITS, type Given, isArchive, megabytes, unpacked } from './code-archive.ts'
import { codeText } from './code-upload.text.ts'
import { listIn, MAX_LISTED, PathError, resolveIn } from './documents.ts'

const say = bilingual(codeText)
const CODE = 'code'

/** What an upload of code may hold, as it is said before it. */
export const CODE_LIMITS = {
  upload_bytes: 20 * 1024 * 1024,
  file_bytes: 1024 * 1024,
  files: MAX_LISTED,
  archive_entries: ARCHIVE_LIMITS.entries,
  unpacked_bytes: ARCHIVE_LIMITS.unpacked_bytes,
  ratio: ARCHIVE_LIMITS.ratio,
} as const

/** What became of an upload: every file of it stands in one of the two. */
export type Uploaded = {
  saved: { path: string; bytes: number; is_replaced: boolean }[]
  refused: { path: string; why: Words }[]
}

/** folderIn returns the folder of an upload in the project's code. Throws a PathError. */
export async function folderIn(project: string, below: string): Promise<string> {
  const parts = below.split('/').filter((part) => part !== '')
  const path = [CODE, ...parts].join('/')
  if (parts.length > 5) throw new PathError(say.no_folder(below))
  if (parts.length > 0) await resolveIn(project, path)
  return path
}

/**
 * saveCode writes files into a project's `code/`, and the files of ZIP archives. Nothing leaves the
 * folder, nothing that exists is replaced unless `replaces` says so, and whatever is not written is
 * among `refused` with its reason.
 *
 * @param project the project's folder.
 * @param folder where the files go, from `folderIn`.
 */
export async function saveCode(
  files: { name: string; bytes: Buffer }[],
  { project, folder, replaces }: { project: string; folder: string; replaces: boolean },
): Promise<Uploaded> {
  const done: Uploaded = { saved: [], refused: [] }
  const known = await listIn(project, CODE)
  let room = CODE_LIMITS.files - known.length
  const taken = new Set<string>()
  for (const given of await givenIn(files)) {
    const path = given.path
    const why = 'why' in given ? given.why : refusalOf(given.bytes)
    if (why || !('bytes' in given)) {
      done.refused.push({ path, why: why ?? say.entry_damaged })
      continue
    }
    const whole = `${folder}/${path}`.normalize('NFC')
    if (taken.has(whole)) {
      done.refused.push({ path, why: say.twice })
      continue
    }
    taken.add(whole)
    const written = await write(project, whole, { bytes: given.bytes, replaces, room })
    if ('why' in written) done.refused.push({ path, why: written.why })
    else done.saved.push({ path: whole, bytes: given.bytes.length, ...written })
    if ('is_replaced' in written && !written.is_replaced) room -= 1
  }
  return done
}

/** The files of an upload, with those in its archives. */
async function givenIn(files: { name: string; bytes: Buffer }[]): Promise<Given[]> {
  const given: Given[] = []
  for (const { name, bytes } of files) {
    if (!isArchive(bytes)) {
      const isLarge = bytes.length > CODE_LIMITS.file_bytes
      given.push(isLarge ? { path: name, why: tooLarge(bytes.length) } : { path: name, bytes })
      continue
    }
    const found = await unpacked(bytes, { max_file_bytes: CODE_LIMITS.file_bytes })
    if ('refused' in found) given.push({ path: name, why: found.refused })
    else {
      for (const entry of found.entries) {
        const isNested = 'bytes' in entry && isArchive(entry.bytes)
        given.push(isNested ? { path: entry.path, why: say.nested } : entry)
      }
    }
  }
  return given
}

const tooLarge = (bytes: number) =>
  say.too_large(megabytes(bytes), megabytes(CODE_LIMITS.file_bytes))

const refusalOf = (bytes: Buffer): Words | undefined =>
  isUtf8(bytes) && !bytes.includes(0) ? undefined : say.no_text

async function write(
  project: string,
  path: string,
  { bytes, replaces, room }: { bytes: Buffer; replaces: boolean; room: number },
): Promise<{ is_replaced: boolean } | { why: Words }> {
  try {
    const file = await resolveIn(project, path)
    const before = await lstat(file).catch((error: unknown) => {
      if (isMissing(error)) return undefined
      throw error
    })
    if (before && !before.isFile()) return { why: say.in_the_way }
    if (before && !replaces) return { why: say.exists }
    if (!before && room <= 0) return { why: say.full(CODE_LIMITS.files) }
    if (before) {
      await writeWhole(file, bytes, 0o640)
      return { is_replaced: true }
    }
    return (await writeNew(file, bytes, 0o640)) ? { is_replaced: false } : { why: say.exists }
  } catch (error) {
    if (error instanceof PathError) return { why: say.no_path }
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    // A name has 255 bytes at most, and a draft of the file adds to it.
    if (code === 'ENAMETOOLONG') return { why: say.no_path }
    // A part of the path is a file.
    if (code === 'ENOTDIR' || code === 'EEXIST') return { why: say.in_the_way }
    throw error
  }
}

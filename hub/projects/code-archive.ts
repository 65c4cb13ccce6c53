import type { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { type Entry, fromBufferPromise, getFileNameLowLevel, type ZipFile } from 'yauzl'
import { bilingual, type Words } from '../i18n/words.ts'
import { codeText } from './code-upload.text.ts'

const say = bilingual(codeText)

/** What an archive may hold. A larger one is refused as a whole: what it means is then unclear. */
export const ARCHIVE_LIMITS = {
  entries: 500,
  unpacked_bytes: 20 * 1024 * 1024,
  /** Source code becomes 3 to 20 times smaller; deflate reaches 1,032. */
  ratio: 100,
} as const

/** A file of an upload: its path as it was given, and its content or why there is none. */
export type Given = { path: string } & ({ bytes: Buffer } | { why: Words })

const KIND = 0o170000
const FILE = 0o100000
const FOLDER = 0o040000
const LINK = 0o120000

/** isArchive returns whether bytes begin as a ZIP archive does, an empty one included. */
export function isArchive(bytes: Buffer): boolean {
  return ['504b0304', '504b0506'].includes(bytes.subarray(0, 4).toString('hex'))
}

/**
 * unpacked returns the files of a ZIP archive, each with its content or why it is refused. Whether
 * their paths may be written is for the caller to decide.
 *
 * @returns why the archive is refused as a whole, or its entries; folders are none.
 */
export async function unpacked(
  archive: Buffer,
  { max_file_bytes }: { max_file_bytes: number },
): Promise<{ refused: Words } | { entries: Given[] }> {
  let zip: ZipFile
  try {
    // Names are decoded below: yauzl would stop at the first that leads outside, without the rest.
    zip = await fromBufferPromise(archive, { decodeStrings: false, lazyEntries: true })
  } catch {
    return { refused: say.damaged }
  }
  if (zip.entryCount > ARCHIVE_LIMITS.entries) {
    return { refused: say.too_many_entries(zip.entryCount, ARCHIVE_LIMITS.entries) }
  }
  const entries: Entry[] = []
  try {
    for await (const entry of zip.eachEntry()) entries.push(entry)
  } catch {
    return { refused: say.damaged }
  }
  const files = entries.filter((entry) => !isFolder(entry))
  const declared = files.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0)
  if (declared > ARCHIVE_LIMITS.unpacked_bytes) {
    return {
      refused: say.too_large_unpacked(
        megabytes(declared),
        megabytes(ARCHIVE_LIMITS.unpacked_bytes),
      ),
    }
  }
  const found: Given[] = []
  for (const entry of files) {
    const path = nameOf(entry)
    const why = refusalOf(entry, max_file_bytes)
    if (why) {
      found.push({ path, why })
      continue
    }
    const bytes = await contentOf(zip, entry)
    found.push(bytes ? { path, bytes } : { path, why: say.entry_damaged })
  }
  return { entries: found }
}

/** Why an entry is not unpacked, as far as its header says. */
function refusalOf(entry: Entry, max_file_bytes: number): Words | undefined {
  const kind = kindOf(entry)
  if (kind === LINK) return say.link
  if (kind !== 0 && kind !== FILE) return say.special
  if (entry.isEncrypted()) return say.encrypted
  if (!entry.canDecodeFileData()) return say.method
  const { uncompressedSize, compressedSize } = entry
  if (uncompressedSize > max_file_bytes) {
    return say.too_large(megabytes(uncompressedSize), megabytes(max_file_bytes))
  }
  if (uncompressedSize > compressedSize * ARCHIVE_LIMITS.ratio) {
    return say.ratio(ARCHIVE_LIMITS.ratio)
  }
  return undefined
}

/** The content, if it is as long as its header says and has its checksum. */
async function contentOf(zip: ZipFile, entry: Entry): Promise<Buffer | undefined> {
  try {
    // yauzl fails as soon as more comes than the header says.
    const stream: Readable = await zip.openReadStreamPromise(entry)
    const parts: Buffer[] = []
    for await (const part of stream) parts.push(part)
    const bytes = Buffer.concat(parts)
    return crc32(bytes) === entry.crc32 ? bytes : undefined
  } catch {
    return undefined
  }
}

function nameOf(entry: Entry): string {
  const { generalPurposeBitFlag, fileNameRaw, extraFields } = entry
  return getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false)
}

/** The kind of a file on Unix, whatever system the archive says that it comes from. */
const kindOf = ({ externalFileAttributes }: Entry) => (externalFileAttributes >>> 16) & KIND

const isFolder = (entry: Entry) => nameOf(entry).endsWith('/') || kindOf(entry) === FOLDER

/** Rounded up, so that what is too large never reads as what is allowed. */
export const megabytes = (bytes: number) => Math.ceil((bytes / 1024 / 1024) * 10) / 10

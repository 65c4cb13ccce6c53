import { z } from 'zod'
import type { Words } from './words.ts'

/** Words in a file or on a socket. */
export const KeptWords: z.ZodType<Words, Words> = z.strictObject({ en: z.string(), tr: z.string() })

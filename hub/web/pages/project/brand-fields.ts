import type { Schemas } from '../../api/client.ts'

export type Brand = Schemas['ProjectBrand']['brand']

/** The fields of a brand that are typed as text; an empty one is null. */
export const TEXT_FIELDS = [
  'sender_name',
  'sender_email',
  'reply_to',
  'signature',
  'postal_address',
  'reason_en',
  'reason_tr',
  'unsubscribe_en',
  'unsubscribe_tr',
  'name',
] as const

/** brandFrom returns the brand that a form's texts, its logo and its colour make. */
export function brandFrom(
  values: Record<string, string>,
  { logo, color }: Pick<Brand, 'logo' | 'color'>,
): Brand {
  const texts = Object.fromEntries(
    TEXT_FIELDS.map((field) => [field, values[field]?.trim() || null]),
  ) as Pick<Brand, (typeof TEXT_FIELDS)[number]> // safe: each of the fields is set
  return { ...texts, logo, color }
}

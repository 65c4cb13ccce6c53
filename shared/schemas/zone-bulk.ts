/** Many zones at once: the rows of a list, each found again by its `external_id`. */
import { z } from 'zod'
import { ExternalId, ZonePatch } from './zone.ts'

export const MAX_BULK_ROWS = 1000

/** A row of a list. What a zone is made from is checked once it is known that there is none yet. */
export const ZoneBulkRow = ZonePatch.extend({
  external_id: ExternalId.meta({
    description:
      'Your name for the zone, by which it is found: among the zones of `org_id` or, without it, among your private ones.',
  }),
}).meta({
  id: 'ZoneBulkRow',
  description:
    'The fields of a zone with its `external_id`. A new zone needs `label`, `lat` and `lon`, and absent fields get their ' +
    'defaults; of a zone that is there, absent fields are unchanged, and null clears a field.',
})
export type ZoneBulkRow = z.infer<typeof ZoneBulkRow>

export const ZoneBulk = z
  .strictObject({
    // Each row is validated for itself, so that one mistake does not stop the others.
    zones: z
      .array(z.unknown())
      .min(1)
      .max(MAX_BULK_ROWS, {
        error: `Must have at most ${MAX_BULK_ROWS} rows. Send the others in requests of their own, one after another.`,
      })
      .meta({
        type: 'array',
        items: { $ref: '#/components/schemas/ZoneBulkRow' },
        minItems: 1,
        maxItems: MAX_BULK_ROWS,
      }),
    dry_run: z.boolean().default(false).meta({
      description: 'Answer what would become of each row, and change nothing.',
    }),
  })
  .meta({ id: 'ZoneBulk' })

const STATUSES = ['created', 'updated', 'unchanged', 'rejected'] as const

export const ZoneBulkError = z
  .object({
    code: z
      .enum([
        'invalid',
        'duplicate_row',
        'ambiguous',
        'forbidden',
        'limit_reached',
        'conflict',
        'too_much_work',
      ])
      .meta({
        description:
          '`invalid`: see `fields`; `duplicate_row`: an earlier row has the same external_id; `ambiguous`: the row ' +
          'names no org_id, and a zone of yours in an organisation has its external_id; `forbidden`: you may not change the zone; `limit_reached`: the plan allows no more zones; ' +
          '`conflict`: the zone was changed or made meanwhile, or has been changed too often; `too_much_work`: its polygon ' +
          'does not fit into this request beside the others.',
      }),
    detail: z.string().meta({ description: 'What is wrong, in one sentence.' }),
    fields: z
      .array(z.object({ path: z.string(), code: z.string(), message: z.string() }))
      .meta({ description: 'The mistakes of the row, by field; empty for other reasons.' }),
  })
  .meta({ id: 'ZoneBulkError' })
export type ZoneBulkError = z.infer<typeof ZoneBulkError>

export const ZoneBulkResult = z
  .object({
    row: z.int().min(1).meta({ description: 'Its number in the request; the first is 1.' }),
    external_id: z.string().nullable().meta({ description: 'Null when the row has none.' }),
    status: z.enum(STATUSES),
    id: z.uuid().nullable().meta({
      description:
        'Of the zone; null when there is none, as for a row of a dry run that would create it.',
    }),
    // Lazy, because the OpenAPI generator forgets the null of a named object otherwise.
    error: z.lazy(() => ZoneBulkError).nullable(),
  })
  .meta({ id: 'ZoneBulkResult', description: 'What became of a row.' })
export type ZoneBulkResult = z.infer<typeof ZoneBulkResult>

const Count = z.int().min(0)

export const ZoneBulkAnswer = z
  .object({
    dry_run: z.boolean(),
    created: Count,
    updated: Count,
    unchanged: Count,
    rejected: Count,
    results: z.array(ZoneBulkResult).meta({ description: 'One for each row, in their order.' }),
  })
  .meta({ id: 'ZoneBulkAnswer', description: 'What became of each row.' })
export type ZoneBulkAnswer = z.infer<typeof ZoneBulkAnswer>

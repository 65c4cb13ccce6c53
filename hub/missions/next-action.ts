import { z } from 'zod'
import type { Localizable } from '../i18n/words.ts'

/** More of a kind than this are one action, which counts them. */
export const MAX_OF_A_KIND = 10

export const NextAction = z
  .object({
    kind: z.enum([
      'add_service_key',
      'create_project',
      'confirm_mail',
      'check_unclear',
      'task_due',
      'decide_opt_out',
      'answer_reply',
      'approve_draft',
      'approve_sequence',
      'check_sequence',
      'decide_approval',
      'send_draft',
      'finish_draft',
      'follow_up',
      'look_at_failed_import',
      'correct_import',
      'look_at_failed_mission',
      'choose_model',
      'set_up_mail',
      'set_brand',
      'renew_license',
      'add_leads',
      'describe_project',
      'write_to_leads',
    ]),
    title: z.string().meta({ description: 'What to do, in one line.' }),
    name: z.string().nullable().meta({
      description: 'The lead, subject, task, file or project it is about; null for several.',
    }),
    project: z.string().nullable(),
    ref: z
      .object({
        kind: z.enum([
          'lead',
          'task',
          'draft',
          'sequence',
          'mission',
          'approval',
          'import',
          'settings',
        ]),
        id: z.string(),
      })
      .nullable()
      .meta({ description: 'What to open.' }),
    lead_id: z.uuid().nullable(),
    count: z.int().meta({ description: 'How many things it stands for.' }),
    due_on: z.iso.date().nullable(),
    is_rest: z.boolean().meta({
      description: `Whether it stands for those of its kind after the first ${MAX_OF_A_KIND}.`,
    }),
  })
  .meta({ id: 'NextAction' })
export type NextAction = Localizable<z.infer<typeof NextAction>>
export type Kind = z.infer<typeof NextAction>['kind']
export type Ref = NonNullable<z.infer<typeof NextAction>['ref']>['kind']

/** What most actions have in common. */
export const NOTHING = {
  name: null,
  project: null,
  ref: null,
  lead_id: null,
  count: 1,
  due_on: null,
  is_rest: false,
}

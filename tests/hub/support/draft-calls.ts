import type { TestHub } from './hub.ts'
import { apiOf, LEAD } from './mail-help.ts'

/** draftCalls makes the calls of tests about drafts of the project `demir`, on the hub that a file starts before them. */
export function draftCalls(hub: () => TestHub) {
  const api = () => apiOf(hub())
  const of = (id: string) => ({ id, project: 'demir' })
  const get = async (id: string) =>
    (await api().get(`drafts/get?id=${id}&project=demir`)).body.draft
  const steps = async (id: string, ...names: string[]) => {
    for (const name of names) await api().ok(`draft/${name}`, of(id))
  }
  const addLead = async (data: object) =>
    (await api().ok('lead/quick_add', { slug: 'demir', data: { ...LEAD, ...data } })).lead
  return {
    of,
    get,
    steps,
    addLead,
    addTagged: async (tag: string, count: number) => {
      for (let n = 0; n < count; n += 1) {
        await addLead({ name: `P${n} Last`, email: `p${n}@${tag}.example`, tags: [tag] })
      }
    },
    create: async (audience: object, more: object = {}): Promise<string> => {
      const { draft } = await api().ok('draft/create', {
        project: 'demir',
        audience,
        subject: 'A question for {company}',
        text: 'Hello {first_name},\n\nwould you like to talk next week?',
        ...more,
      })
      return draft.id
    },
    /** The whole way of a draft, to the mails sent. */
    sendAll: async (id: string) => {
      await steps(id, 'render', 'approve', 'push', 'send')
      await hub().deps.mailer.run()
      return get(id)
    },
    recipientsOf: async (id: string) =>
      (await api().get(`drafts/recipients?id=${id}&project=demir`)).body.recipients,
  }
}

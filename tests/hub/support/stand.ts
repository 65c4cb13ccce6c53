/** The calls that standing for a sentence takes. */
type Calls = {
  get: (path: string) => Promise<{ body: { sentences?: Judged[] } }>
  post: (path: string, body: unknown) => Promise<unknown>
}
type Judged = { sentence: string; verdict: string; stand: unknown }

/** Stands for every sentence of a draft that has no evidence, as its author would. */
export async function standForAll(
  api: Calls,
  { id, project }: { id: string; project: string },
): Promise<void> {
  const { body } = await api.get(`drafts/get?id=${id}&project=${project}`)
  for (const { sentence, verdict, stand } of body.sentences ?? []) {
    if (stand || verdict === 'harmless' || verdict === 'supported') continue
    await api.post('draft/stand', { id, project, sentence })
  }
}

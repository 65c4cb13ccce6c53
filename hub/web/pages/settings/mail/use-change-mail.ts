import { useQueryClient } from '@tanstack/react-query'
import { api, ok, type Schemas } from '../../../api/client.ts'
import { mailQuery } from '../../../api/queries.ts'

type Change = Omit<Partial<Schemas['MailSettings']>, 'smtp' | 'listmonk' | 'imap'> & {
  smtp?: object | null
  listmonk?: object | null
  imap?: object | null
}

/** useChangeMail changes some of the settings; the rest stays as it is. */
export function useChangeMail() {
  const queryClient = useQueryClient()
  return async (body: Change) => {
    const view = await ok(api.PUT('/api/cockpit/settings/mail', { body: body as never })) // safe: the hub checks it, and says what does not fit
    queryClient.setQueryData(mailQuery.queryKey, view)
    for (const key of ['draft', 'today']) void queryClient.invalidateQueries({ queryKey: [key] })
  }
}

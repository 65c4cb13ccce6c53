import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import type { Language } from '../../../../shared/words/texts.ts'
import { errorMessage } from '../../../../web/shared/errors.tsx'
import { useLanguage } from '../../../../web/ui/language.ts'
import { toast } from '../../../../web/ui/toast.tsx'
import { wordsText } from '../../../../web/ui/words.text.ts'
import { api, ok } from '../../api/client.ts'
import { untold } from '../../api/session.ts'
import { common } from '../../common.text.ts'
import { leadsText } from './leads.text.ts'
import { patchLists, refreshLeads } from './queries.ts'

/** A little longer than the toast with "Undo" is visible. */
const LATER_MS = 6_500

type Doomed = { project: string; ids: string[]; language: Language }

/**
 * useDeleteLeads removes leads from the page at once, but from the hub only when the time to undo
 * is over, because the hub cannot restore them.
 */
export function useDeleteLeads(): (project: string, ids: string[]) => void {
  const queryClient = useQueryClient()
  const language = useLanguage()
  return (project, ids) => {
    const doomed = { project, ids, language }
    const gone = new Set(ids)
    patchLists(queryClient, (leads) => leads.filter(({ id }) => !gone.has(id)))
    const forget = () => {
      removeEventListener('pagehide', commit)
      untold.delete(commit)
      clearTimeout(timer)
    }
    const commit = () => {
      forget()
      return send(queryClient, doomed)
    }
    const timer = setTimeout(commit, LATER_MS)
    // Leaving the page is no undo, and neither is a sign-out.
    addEventListener('pagehide', commit)
    untold.add(commit)
    toast(leadsText[language].bulk.deleted(ids.length), {
      action: {
        label: wordsText[language].undo,
        onClick: () => {
          forget()
          void refreshLeads(queryClient)
        },
      },
    })
  }
}

async function send(queryClient: QueryClient, { project, ids, language }: Doomed): Promise<void> {
  try {
    const { busy } = await ok(
      api.POST('/api/cockpit/leads/bulk', {
        body: { project, ids, delete: true },
        keepalive: true,
      }),
    )
    if (busy.length > 0) toast(leadsText[language].bulk.busy(busy.length), { kind: 'failed' })
  } catch (error) {
    toast(errorMessage(error, common[language]), { kind: 'failed' })
  }
  await refreshLeads(queryClient)
}

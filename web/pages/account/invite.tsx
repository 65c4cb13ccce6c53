import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { api, ok } from '../../api/client.ts'
import { useSession } from '../../api/session.ts'
import { errorMessage } from '../../shared/errors.tsx'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/form.tsx'
import { useText } from '../../ui/language.ts'
import { toast } from '../../ui/toast.tsx'
import { useWords } from '../../ui/words.tsx'
import { orgsText } from './orgs.text.ts'

/** Where an invite link leads: it is accepted by whoever is signed in. */
export function InvitePage({ token }: { token: string }) {
  const text = useText(orgsText)
  const words = useWords()
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const session = useSession()
  const accept = useMutation({
    mutationFn: () => ok(api.POST('/api/v1/account/invites/accept', { body: { token } })),
    onSuccess: async ({ org }) => {
      toast(text.joined(org.name))
      await queryClient.invalidateQueries()
      navigate(`/account/orgs/${org.id}`, { replace: true })
    },
  })
  return (
    <section className="mx-auto flex max-w-sm flex-col gap-4 px-6 py-16">
      <h1 className="text-xl">{text.invite_title}</h1>
      <p className="text-pretty text-muted">{text.invite_text}</p>
      <p className="break-words">{text.signed_in(session?.user.email ?? '')}</p>
      {accept.error ? <Notice tone="bad" text={errorMessage(accept.error, words)} /> : null}
      <Button
        variant="primary"
        className="self-start"
        isPending={accept.isPending}
        onClick={() => accept.mutate()}
      >
        {text.accept}
      </Button>
    </section>
  )
}

import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { errorMessage } from '../../../../../web/shared/errors.tsx'
import { ConfirmByName } from '../../../../../web/ui/confirm.tsx'
import { Checkbox } from '../../../../../web/ui/field.tsx'
import { useText } from '../../../../../web/ui/language.ts'
import { useWords } from '../../../../../web/ui/words.tsx'
import { api, ok, type Schemas } from '../../../api/client.ts'
import { peopleText } from './people.text.ts'
import { Stays } from './stays.tsx'

/** The question before a person is erased: their address has to be typed. */
export function ErasePerson({
  found,
  onClose,
  onErased,
}: {
  found: Schemas['PersonFound']
  onClose: () => void
  onErased: (erased: Schemas['PersonErased']) => void
}) {
  const text = useText(peopleText)
  const words = useWords()
  const [inTexts, setInTexts] = useState(true)
  const { email } = found
  const erase = useMutation({
    mutationFn: () =>
      ok(
        api.POST('/api/cockpit/people/erase', {
          body: { email, confirm: email, replace_in_texts: inTexts },
        }),
      ),
    onSuccess: onErased,
  })
  return (
    <ConfirmByName
      title={text.erase}
      text={
        <>
          <p>{text.erase_text}</p>
          <label htmlFor="erase-texts" className="mt-3 flex items-start gap-2 text-fg">
            <Checkbox
              id="erase-texts"
              className="mt-0.5"
              checked={inTexts}
              onChange={({ target }) => setInTexts(target.checked)}
            />
            {text.in_texts}
          </label>
          <Stays stays={found.stays} />
        </>
      }
      label={`${text.type}: ${email}`}
      name={email}
      action={text.erase}
      failure={erase.isError ? errorMessage(erase.error, words) : undefined}
      isPending={erase.isPending}
      onConfirm={() => erase.mutate()}
      onClose={onClose}
    />
  )
}

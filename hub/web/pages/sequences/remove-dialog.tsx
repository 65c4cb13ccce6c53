import { useQueryClient } from '@tanstack/react-query'
import { Button } from '../../../../web/ui/button.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../web/ui/layer.tsx'
import { api, ok } from '../../api/client.ts'
import { common } from '../../common.text.ts'
import { type Sequence, useChange } from './queries.ts'
import { sequencesText } from './sequences.text.ts'

/** Asks once more before a sequence is deleted of which no mail has gone. */
export function RemoveDialog({
  sequence,
  isOpen,
  onClose,
  onRemoved,
}: {
  sequence: Sequence
  isOpen: boolean
  onClose: () => void
  onRemoved: () => void
}) {
  const text = useText(sequencesText)
  const words = useText(common)
  const queryClient = useQueryClient()
  const remove = useChange(
    sequence,
    (body) => ok(api.POST('/api/cockpit/sequence/delete', { body })),
    () => {
      queryClient.removeQueries({ queryKey: ['sequence', sequence.id] })
      onClose()
      onRemoved()
    },
  )
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={text.remove_title}
      description={text.remove_text}
      size="sm"
    >
      <Actions>
        <Button onClick={onClose}>{words.cancel}</Button>
        <Button variant="danger" isPending={remove.isPending} onClick={() => remove.mutate()}>
          {text.remove}
        </Button>
      </Actions>
    </Dialog>
  )
}

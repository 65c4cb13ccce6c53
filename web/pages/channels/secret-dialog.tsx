import { Button } from '../../ui/button.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { useText } from '../../ui/language.ts'
import { Actions, Dialog } from '../../ui/layer.tsx'
import { channelsText } from './channels.text.ts'

/** The secret of a webhook, which is shown only now. */
export function SecretDialog({
  secret,
  isRotated = false,
  onKept,
}: {
  secret: string
  isRotated?: boolean
  onKept: () => void
}) {
  const text = useText(channelsText)
  return (
    <Dialog isOpen onClose={onKept} title={text.secret} description={text.secret_once} size="md">
      <CopyText label={text.secret} text={secret} />
      {isRotated ? <p className="mt-3 text-sm text-muted">{text.secret_former}</p> : null}
      <Actions>
        <Button variant="primary" onClick={onKept}>
          {text.secret_kept}
        </Button>
      </Actions>
    </Dialog>
  )
}

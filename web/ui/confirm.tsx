import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Field, Input } from './field.tsx'
import { Notice } from './form.tsx'
import { Actions, Dialog } from './layer.tsx'

type Props = {
  title: string
  /** What is lost. */
  text: ReactNode
  /** Says what is to be typed. */
  label: string
  /** What has to be typed. */
  name: string
  action: string
  failure?: string | undefined
  isPending: boolean
  onConfirm: () => void
  onClose: () => void
}

/** The question before what cannot be undone: the name has to be typed. */
export function ConfirmByName(props: Props) {
  const [typed, setTyped] = useState('')
  const isMeant = typed.trim() === props.name
  return (
    <Dialog isOpen isForgetful onClose={props.onClose} title={props.title}>
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (isMeant && !props.isPending) props.onConfirm()
        }}
      >
        <div className="text-pretty text-muted">{props.text}</div>
        <Field label={props.label}>
          <Input
            spellCheck={false}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        </Field>
        {props.failure ? <Notice tone="bad" text={props.failure} /> : null}
        <Actions className="mt-0">
          <Button type="submit" variant="danger" disabled={!isMeant} isPending={props.isPending}>
            {props.action}
          </Button>
        </Actions>
      </form>
    </Dialog>
  )
}

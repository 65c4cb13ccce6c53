import { useState } from 'react'
import { Textarea } from '../../ui/field.tsx'
import { FormField } from '../../ui/form.tsx'
import { useText } from '../../ui/language.ts'
import { areaFrom, cornersOf, middleOf } from './corners.ts'
import type { Draft } from './draft.ts'
import { zonesText } from './zones.text.ts'

type Part = { draft: Draft; change: (part: Partial<Draft>) => void }

/** The corners of a polygon as text: by keyboard alone it is drawn, moved and changed here. */
export function Corners({ draft, change }: Part) {
  const text = useText(zonesText)
  const [typed, setTyped] = useState<string>()
  const isUnread = typed !== undefined && typed.trim() !== '' && areaFrom(typed) === null
  return (
    <>
      <FormField name="polygon" label={text.corners} hint={text.corners_hint}>
        <Textarea
          rows={5}
          spellCheck={false}
          className="font-mono text-sm"
          value={typed ?? cornersOf(draft.polygon)}
          onChange={({ target }) => {
            setTyped(target.value)
            const polygon = areaFrom(target.value)
            if (polygon) change({ polygon, ...middleOf(polygon) })
            else if (target.value.trim() === '') change({ polygon: null })
          }}
          // What could not be read stays to be mended.
          onBlur={() => isUnread || setTyped(undefined)}
        />
      </FormField>
      <p role="status" className="text-sm text-warn">
        {isUnread ? text.corners_unread : null}
      </p>
    </>
  )
}

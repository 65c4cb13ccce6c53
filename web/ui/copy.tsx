import { Check, Copy } from 'lucide-react'
import { useRef, useState } from 'react'
import { IconButton } from './button.tsx'
import { controlClass } from './field.tsx'
import { useWords } from './words.tsx'

/** A text that is shown to be copied: a secret, a link. Without a clipboard it is selected instead. */
export function CopyText({ label, text }: { label: string; text: string }) {
  const words = useWords()
  const ref = useRef<HTMLInputElement>(null)
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    ref.current?.select()
    // Browsers have no clipboard for pages without TLS.
    await navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  }
  return (
    <div className="flex items-center gap-2">
      <input
        ref={ref}
        readOnly
        aria-label={label}
        value={text}
        onFocus={({ target }) => target.select()}
        className={`${controlClass} h-8 min-w-0 flex-1 font-mono text-sm pointer-coarse:h-10`}
      />
      <IconButton
        variant="secondary"
        label={isCopied ? words.copied : words.copy}
        onClick={() => void copy()}
      >
        {isCopied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
      </IconButton>
      <span role="status" className="sr-only">
        {isCopied ? words.copied : ''}
      </span>
    </div>
  )
}

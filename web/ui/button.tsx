import { LoaderCircle } from 'lucide-react'
import type { ComponentProps, ReactNode } from 'react'
import { cn } from './class-names.ts'

const VARIANTS = {
  primary: 'bg-accent text-on-accent hover:brightness-110 active:brightness-95 font-semibold',
  secondary: 'border border-line bg-surface text-fg hover:bg-hover active:bg-hover font-medium',
  ghost: 'text-muted hover:bg-hover hover:text-fg font-medium',
  danger: 'bg-bad-solid text-on-bad hover:brightness-110 font-semibold',
} as const
const SIZES = {
  sm: 'h-7 px-2 text-sm gap-1.5 pointer-coarse:h-9',
  md: 'h-8 px-3 text-base gap-2 pointer-coarse:h-10',
  lg: 'h-10 px-4 text-base gap-2',
} as const

type ButtonLook = { variant?: keyof typeof VARIANTS; size?: keyof typeof SIZES }

/** The classes of a button, for links that look like one. */
export function buttonClass({ variant = 'secondary', size = 'md' }: ButtonLook = {}): string {
  return cn(
    'relative inline-flex shrink-0 select-none items-center justify-center whitespace-nowrap rounded-control transition-[background,filter] duration-100 disabled:opacity-50 aria-disabled:opacity-50',
    VARIANTS[variant],
    SIZES[size],
  )
}

type Props = ComponentProps<'button'> & ButtonLook & { icon?: ReactNode; isPending?: boolean }

/** While busy, a button keeps its width and tells screen readers. */
export function Button({
  variant,
  size,
  icon,
  isPending = false,
  className,
  children,
  ...rest
}: Props) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled || isPending}
      aria-busy={isPending || undefined}
      className={cn(buttonClass({ variant, size }), className)}
    >
      {isPending ? <LoaderCircle size={16} className="spinner absolute" aria-hidden /> : null}
      <span
        className={cn('inline-flex items-center', isPending && 'opacity-40', icon ? 'gap-1.5' : '')}
      >
        {icon}
        {children}
      </span>
    </button>
  )
}

type IconProps = Omit<ComponentProps<'button'>, 'aria-label' | 'title'> & {
  label: string
  variant?: 'ghost' | 'secondary'
}

/** A square button with an icon; its name is its tooltip. */
export function IconButton({ label, variant = 'ghost', className, ...rest }: IconProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={label}
      className={cn(
        'inline-flex size-7 shrink-0 items-center justify-center rounded-control text-muted transition-colors hover:bg-hover hover:text-fg disabled:opacity-50 pointer-coarse:size-10',
        variant === 'secondary' && 'border border-line bg-surface',
        className,
      )}
    />
  )
}

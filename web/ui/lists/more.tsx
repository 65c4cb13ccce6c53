import { Button } from '../button.tsx'
import { cn } from '../class-names.ts'
import { useWords } from '../words.tsx'

/** A list that is read page by page, as TanStack Query has it. */
export type Paged = {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage: () => Promise<unknown>
}

/** The button that loads the next page of a list, if there is one. */
export function More({ query, className }: { query: Paged; className?: string }) {
  const words = useWords()
  if (!query.hasNextPage) return null
  return (
    <div className={cn('flex justify-center p-4', className)}>
      <Button
        variant="ghost"
        isPending={query.isFetchingNextPage}
        onClick={() => void query.fetchNextPage()}
      >
        {words.more}
      </Button>
    </div>
  )
}

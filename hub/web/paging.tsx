import { keepPreviousData, type UseInfiniteQueryResult } from '@tanstack/react-query'
import { Button } from '../../web/ui/button.tsx'
import { cn } from '../../web/ui/class-names.ts'
import { useText } from '../../web/ui/language.ts'
import { common } from './common.text.ts'

/** The query options that all paged lists share: each page names the next. */
export const paged = {
  initialPageParam: '',
  getNextPageParam: ({ next_cursor }: { next_cursor: string | null }) => next_cursor,
  placeholderData: keepPreviousData,
} as const

/** The cursor of a page as a query parameter; the first page has none. */
export const cursorOf = (pageParam: string) => (pageParam ? { cursor: pageParam } : {})

type Paged = Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>

/** The button that loads the next page, if there is one. */
export function More({ query, className }: { query: Paged; className?: string }) {
  const text = useText(common)
  if (!query.hasNextPage) return null
  return (
    <div className={cn('flex justify-center p-4', className)}>
      <Button
        variant="ghost"
        isPending={query.isFetchingNextPage}
        onClick={() => query.fetchNextPage()}
      >
        {text.show_more}
      </Button>
    </div>
  )
}

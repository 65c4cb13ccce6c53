import { keepPreviousData } from '@tanstack/react-query'

/** The query options that all paged lists share: each page names the next. */
export const paged = {
  initialPageParam: '',
  getNextPageParam: ({ next_cursor }: { next_cursor: string | null }) => next_cursor,
  placeholderData: keepPreviousData,
} as const

/** The cursor of a page as a query parameter; the first page has none. */
export const cursorOf = (pageParam: string) => (pageParam ? { cursor: pageParam } : {})

import type { Book } from '../task.ts'
import { engineer, engineer_system } from './code.ts'
import { docs, marketing, research, sales, web_research } from './mails.ts'
import { ceo, data, finance, legal, pm, system } from './office.ts'

/** Five tasks of every agent, each in both languages. */
export const BOOK: Book = {
  research,
  web_research,
  marketing,
  sales,
  engineer,
  engineer_system,
  docs,
  finance,
  legal,
  data,
  pm,
  system,
  ceo,
}

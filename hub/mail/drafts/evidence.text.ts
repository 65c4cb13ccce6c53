import { texts } from '../../i18n/words.ts'

/** Why nobody can stand for a sentence, or a fact cannot be added. */
export const evidenceText = texts(
  {
    no_sentence: 'The draft has no such sentence any more. Read it again.',
    needs_nobody: 'This sentence needs nobody to stand for it.',
    no_lead: 'This lead does not exist in this project.',
    no_evidence: 'There is no such fact in this project.',
    out_of_order: 'Only sentences of a draft that is not approved yet can be stood for.',
  },
  {
    no_sentence: 'Taslakta artık böyle bir cümle yok. Yeniden okuyun.',
    needs_nobody: 'Bu cümlenin sorumluluğunu kimsenin alması gerekmiyor.',
    no_lead: 'Bu projede böyle bir aday yok.',
    no_evidence: 'Bu projede böyle bir bilgi yok.',
    out_of_order: 'Yalnızca henüz onaylanmamış bir taslağın cümlelerinin sorumluluğu alınabilir.',
  },
)

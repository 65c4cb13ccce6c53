import { texts } from '../i18n/words.ts'

/** Why a project cannot be made, found or deleted. */
export const projectsText = texts(
  {
    none: 'There is no project yet. Create one.',
    slug_taken: (slug: string) =>
      `There is a project “${slug}” already. Choose another short name.`,
    type_name: 'Type the name of the project to delete it.',
    busy: {
      mail: 'Not now: a mail is being sent. Wait until it is.',
      mission: 'Not now: a mission is running. Cancel it, or wait until it is done.',
    },
  },
  {
    none: 'Henüz proje yok. Bir proje oluşturun.',
    slug_taken: (slug) => `“${slug}” kısa adlı bir proje zaten var. Başka bir kısa ad seçin.`,
    type_name: 'Silmek için projenin adını yazın.',
    busy: {
      mail: 'Şimdi olmaz: bir e-posta gönderiliyor. Bitmesini bekleyin.',
      mission: 'Şimdi olmaz: bir görev sürüyor. İptal edin ya da bitmesini bekleyin.',
    },
  },
)

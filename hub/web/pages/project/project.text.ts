import { texts } from '../../i18n.ts'

export const projectText = texts(
  {
    title: 'Project',
    about:
      'What the agents read before they research or write. It stands in CONTEXT.md of the project’s folder, where it can be edited as well.',
    fields: {
      name: 'Name',
      website: 'Website',
      industry: 'Industry',
      description: 'In one sentence',
      icp: 'Ideal customer',
      value_proposition: 'Value proposition',
      tone: 'Tone of voice',
    },
    hints: {
      description: 'What it is, for whom.',
      icp: 'Who, where and how big.',
      value_proposition: 'What the customer gets that others do not give.',
      tone: 'How letters should sound, e.g. warm, short, formal.',
    },
    saved: 'The project was saved',
    list: {
      title: 'Mailing list',
      text: 'Campaigns go to a list of this project in listmonk.',
      create: 'Create list',
      there: (name: string, id: number) => `${name} is list ${id} in listmonk`,
    },
    delete: {
      title: 'Delete project',
      text: 'Its leads, drafts and missions leave the hub. An archive of all of it stays on the server.',
      open: 'Delete project',
      confirm: (name: string) => `Type ${name} to delete it`,
      submit: 'Delete this project',
      done: (archive: string) => `Deleted. Its archive is ${archive}`,
    },
  },
  {
    title: 'Proje',
    about:
      'Ajanların araştırmadan ve yazmadan önce okudukları. Proje klasöründeki CONTEXT.md dosyasında durur; orada da düzenlenebilir.',
    fields: {
      name: 'Ad',
      website: 'Web sitesi',
      industry: 'Sektör',
      description: 'Tek cümleyle',
      icp: 'İdeal müşteri',
      value_proposition: 'Değer önerisi',
      tone: 'Üslup',
    },
    hints: {
      description: 'Ne olduğu, kimin için olduğu.',
      icp: 'Kim, nerede, ne büyüklükte.',
      value_proposition: 'Müşterinin başkasında bulamadığı ne.',
      tone: 'Mektupların sesi; örneğin sıcak, kısa, resmî.',
    },
    saved: 'Proje kaydedildi',
    list: {
      title: 'E-posta listesi',
      text: 'Kampanyalar listmonk’ta bu projenin listesine gider.',
      create: 'Liste oluştur',
      there: (name, id) => `${name}, listmonk’ta ${id} numaralı liste`,
    },
    delete: {
      title: 'Projeyi sil',
      text: 'Adayları, taslakları ve görevleri hub’dan çıkar. Hepsinin arşivi sunucuda kalır.',
      open: 'Projeyi sil',
      confirm: (name) => `Silmek için ${name} yazın`,
      submit: 'Bu projeyi sil',
      done: (archive) => `Silindi. Arşivi: ${archive}`,
    },
  },
)

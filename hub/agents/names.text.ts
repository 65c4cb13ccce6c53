import { type Language, texts } from '../i18n/words.ts'

/** The names of the agents. */
export const nameText = texts(
  {
    research: 'Research',
    web_research: 'Web research',
    marketing: 'Marketing',
    sales: 'Sales',
    engineer: 'Engineer',
    engineer_system: 'System engineer',
    docs: 'Documents',
    finance: 'Finance',
    legal: 'Legal',
    data: 'Data',
    pm: 'Process',
    system: 'System',
    ceo: 'CEO',
  },
  {
    research: 'Araştırma',
    web_research: 'Web araştırması',
    marketing: 'Pazarlama',
    sales: 'Satış',
    engineer: 'Mühendis',
    engineer_system: 'Sistem mühendisi',
    docs: 'Belgeler',
    finance: 'Finans',
    legal: 'Hukuk',
    data: 'Veri',
    pm: 'Süreç',
    system: 'Sistem',
    ceo: 'Genel müdür',
  },
)

/** agentName returns the name of an agent; any other word is returned unchanged. */
export function agentName(language: Language, agent: string): string {
  return Reflect.get(nameText[language], agent) ?? agent
}

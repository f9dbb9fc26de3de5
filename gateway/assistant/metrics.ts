/** Counts the outcomes of assistant answers by provider and class, without any content. */
import { Counter, type Registry } from 'prom-client';
import type { AssistantOptions } from './assistant.ts';

export function countAnswers(registry: Registry): NonNullable<AssistantOptions['ended']> {
  const answers = new Counter({
    name: 'scriptorium_assistant_answers_total',
    help: 'Answers of the assistant that this process has passed on, by provider and what came of them. `refused`: the provider does not accept the operator’s key; `left`: the client has gone',
    labelNames: ['provider', 'outcome'],
    registers: [registry],
  });
  return (provider, outcome) => answers.inc({ provider, outcome });
}

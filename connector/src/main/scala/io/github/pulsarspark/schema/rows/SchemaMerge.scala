package io.github.pulsarspark.schema.rows

import io.github.pulsarspark.schema.TopicSchema

/** The schema to read a topic by after its schema changed: with the new fields and the removed ones. Pure.
  */
private[pulsarspark] object SchemaMerge {

  /** Merges two schemas. Left: the difference that cannot be resolved. */
  def apply(topic: String, known: TopicSchema, newest: TopicSchema): Either[String, TopicSchema] =
    SchemaTranslation.merge(topic, known, newest).map { merged =>
      if (merged.definition == newest.definition) newest else merged.copy(unversioned = Some(newest))
    }
}

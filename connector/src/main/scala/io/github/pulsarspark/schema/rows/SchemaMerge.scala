package io.github.pulsarspark.schema.rows

import io.github.pulsarspark.schema.TopicSchema

/** What a query that has read a topic by one schema reads it by when the topic has another: new fields are there, and
  * those that were removed stay. Pure.
  */
private[pulsarspark] object SchemaMerge {

  /** Left with what cannot be read as one. */
  def apply(topic: String, known: TopicSchema, newest: TopicSchema): Either[String, TopicSchema] =
    SchemaTranslation.merge(topic, known, newest).map { merged =>
      if (merged.definition == newest.definition) newest else merged.copy(unversioned = Some(newest))
    }
}

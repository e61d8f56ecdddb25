package io.github.pulsarspark.schema.columns

/** Rows whose sequence ids mean something to a later producer of the same name: a broker that looks for duplicates
  * drops those that are not above the last one of the name in the topic partition.
  */
private[pulsarspark] object NamedIds {

  /** True if a write has such rows.
    *
    * @param settings
    *   of the client's producer
    * @param columns
    *   metadata columns of the rows
    */
  def apply(settings: Map[String, String], columns: Set[String]): Boolean =
    settings.contains("producerName") && (columns(MetadataColumns.SequenceId.name) || beginAgain(settings))

  /** True if each producer begins with the same id. */
  def beginAgain(settings: Map[String, String]): Boolean = settings.contains("initialSequenceId")
}

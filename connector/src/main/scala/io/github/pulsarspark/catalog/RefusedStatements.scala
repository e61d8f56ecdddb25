package io.github.pulsarspark.catalog

import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableWritePrivilege}

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.inspect.MetadataTable

/** Statements that change rows of a table. Spark tells a catalog what a statement does to the rows, not its name; and
  * it would refuse most of them later by errors about columns.
  */
private[catalog] object RefusedStatements {

  private val Insert = Set(TableWritePrivilege.INSERT)
  private val Update = Set(TableWritePrivilege.UPDATE)
  private val Delete = Set(TableWritePrivilege.DELETE)

  /** Fails unless a statement adds rows only. A `MERGE` that does so cannot be told from an `INSERT`. */
  def check(ident: Identifier, table: Table, privileges: Set[TableWritePrivilege]): Unit =
    if (!privileges.subsetOf(Insert)) throw table match {
      case _: MetadataTable => Conditions.MetadataReadOnly(table = table.name, use = "be written to").exception
      case _                => Conditions.CatalogStatement(
          statement = s"${statement(privileges)} of table $ident",
          why = "messages can be added to a topic, but neither changed, deleted nor replaced",
          instead = "Append rows that correct earlier ones, or write to a new topic"
        ).exception
    }

  private def statement(privileges: Set[TableWritePrivilege]): String = privileges match {
    case Update                           => "UPDATE or MERGE"
    case Delete                           => "DELETE or MERGE"
    case both if both == Insert ++ Delete => "An overwrite or MERGE"
    case _                                => "MERGE"
  }
}

package io.github.pulsarspark.schema.columns

import scala.util.Try

import org.apache.spark.sql.types._

import io.github.pulsarspark.errors.Conditions

/** Checks columns that a user sets for reading. Pure. */
private[pulsarspark] object UserColumns {

  /** Fails unless the schema that the user set is a part of the columns, in any order, with the same types. Nullability
    * is not compared: all columns of a read are nullable.
    */
  def check(user: StructType, actual: StructType): Unit =
    mismatch(user, actual).foreach { case (column, reason) =>
      throw Conditions.UserSchemaMismatch(column = column, reason = reason).exception
    }

  /** The first part of `user` that is not in `actual`, and why. */
  def mismatch(user: DataType, actual: DataType, path: String = ""): Option[(String, String)] =
    (user, actual) match {
      case (u: StructType, a: StructType) =>
        u.fields.iterator.flatMap { f =>
          val column = if (path.isEmpty) f.name else s"$path.${f.name}"
          Try(a(f.name)).toOption match {
            case None        => Some(column -> s"the topic has no such column; it has ${a.fieldNames.mkString(", ")}")
            case Some(field) => mismatch(f.dataType, field.dataType, column)
          }
        }.nextOption()
      case (ArrayType(u, _), ArrayType(a, _))     => mismatch(u, a, s"$path[]")
      case (MapType(uk, u, _), MapType(ak, a, _)) => mismatch(uk, ak, s"$path{}").orElse(mismatch(u, a, s"$path{}"))
      case _ if user == actual                    => None
      case _                                      => Some(path -> s"it is ${actual.sql}, not ${user.sql}")
    }
}
